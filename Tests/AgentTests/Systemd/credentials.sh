# Services get secrets of root's vault from systemd itself.
set -u
said() { printf '%s: ' "$1"; shift; "$@" >/last 2>&1 && echo yes || echo no; }
# A service that writes what it got to /got.
service() {
  printf '[Service]\nType=oneshot\nTimeoutStartSec=infinity\nExecStart=/bin/sh -c "cat $CREDENTIALS_DIRECTORY/db >/got"\n' \
    >"/etc/systemd/system/$1"
}
state() { systemctl show --value --property "$2" "$1"; }
until_state() { until [ "$(state "$1" "$2")" = "$3" ]; do sleep 0.1; done; }

umask 077
service web.service
service other.service
systemctl enable --now cofferd@0.socket coffer-credentials.socket 2>/dev/null
head -c 32 /dev/urandom >/root/key
said "a vault of root's" coffer vault init --system --key-file /root/key --no-passphrase
said "unlocked" coffer vault unlock --key-file /root/key
printf 'hun\0ter\n2\n' | coffer set db.example/ada
coffer service add web.service db db.example/ada 2>/dev/null
coffer service add other.service db db.example/ada 2>/dev/null
systemctl daemon-reload

rm -f /got
said "starts without a grant" systemctl start web.service
echo "status: $(state web.service ExecMainStatus), ran: $([ -e /got ] && echo yes || echo no)"
said "granted" coffer app grant unit:web.service default --read --key-file /root/key
said "starts with a grant" systemctl start web.service
printf 'hun\0ter\n2\n' | cmp - /got && echo "gets each byte"
said "another service starts" systemctl start other.service
echo "logged $(coffer app log | grep -c 'unit:web.service') times"

# While the vault is locked the start waits.
rm -f /got
coffer lock
systemctl start --no-block web.service
until_state web.service ActiveState activating
until [ "$(ss -xH state connected src /run/coffer/credentials.sock | wc -l)" -ge 1 ]; do sleep 0.1; done
[ -e /got ] || echo "waits while locked"
coffer vault unlock --key-file /root/key
until_state web.service ActiveState inactive
printf 'hun\0ter\n2\n' | cmp - /got && echo "gets each byte after the unlock"

# The end of the agent in that time is no empty secret.
rm -f /got
coffer lock
systemctl start --no-block web.service
until [ "$(ss -xH state connected src /run/coffer/credentials.sock | wc -l)" -ge 1 ]; do sleep 0.1; done
systemctl stop cofferd@0.service 2>/dev/null
until_state web.service ActiveState failed
echo "the agent's end: status $(state web.service ExecMainStatus), ran: $([ -e /got ] && echo yes || echo no)"

# systemd's own limit ends the wait.
printf '[Service]\nTimeoutStartSec=1\n' >/etc/systemd/system/web.service.d/limit.conf
systemctl daemon-reload
said "starts locked, with a limit" systemctl start web.service
[ -e /got ] || echo "not run"

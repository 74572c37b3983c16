# docs/servers.md: an agent that opens root's vault itself, its upgrade, and its removal.
set -u
umask 077
state() { systemctl show --value --property "$2" "$1"; }
printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "cat $CREDENTIALS_DIRECTORY/db >/got"\n' >/etc/systemd/system/web.service
systemctl enable --now cofferd@0.socket coffer-credentials.socket 2>/dev/null
head -c 32 /dev/urandom >/root/key
coffer vault init --system --key-file /root/key --no-passphrase --recovery-key >/root/recovery
coffer vault unlock --key-file /root/key
printf hunter2 | coffer set db.example/ada
coffer service add web.service db db.example/ada 2>/dev/null
coffer app grant unit:web.service default --read --recovery-key-fd 3 3</root/recovery 2>/dev/null

install -d -m 700 /etc/credstore.encrypted
mkdir -p /etc/systemd/system/cofferd@0.service.d
systemd-creds encrypt --with-key=host --name=coffer.key /root/key /etc/credstore.encrypted/coffer-0.key 2>/dev/null
mv /root/key /root/elsewhere
printf '[Service]\nLoadCredentialEncrypted=coffer.key:/etc/credstore.encrypted/coffer-0.key\n' \
  >/etc/systemd/system/cofferd@0.service.d/key.conf
systemctl daemon-reload
systemctl restart cofferd@0.service
systemctl start web.service && echo "after a restart the service gets $(cat /got)"
echo "the vault is $(coffer agent status)"

# Killed, it is started again with the next connection, and opens the vault.
rm /got
systemctl kill --signal=KILL cofferd@0.service
systemctl start web.service && echo "after a kill the service gets $(cat /got)"

# A service that is started while the agent is away waits in the socket.
rm /got
systemctl stop cofferd@0.service 2>/dev/null
systemctl start web.service && echo "after a stop the service gets $(cat /got)"

coffer vault backup >/dev/null && coffer vault restore --dry-run --key-file /root/elsewhere >/dev/null && echo "a backup and a drill"
coffer doctor --json | python3 -c '
import json, sys, time
backups = json.load(sys.stdin)["backups"]
print("/backups/" in backups["newest"], abs(time.time() - backups["time"]) < 3600, backups["trialOverdue"])'

# The daily job.
count() { find /var/lib/private/coffer/0/backups -name '*.coffer' | wc -l; }
coffer set changed </root/recovery 2>/dev/null; before=$(count)
systemctl enable --now coffer-backup@root.timer 2>/dev/null && systemctl start coffer-backup@root.service
echo "$(($(count) - before)) backup by the timer's unit, $(state coffer-backup@root.timer ActiveState)"

coffer service remove web.service db 2>/dev/null
coffer service list
systemctl daemon-reload
systemctl disable --now cofferd@0.socket coffer-credentials.socket 2>/dev/null
systemctl stop cofferd@0.service 2>/dev/null
[ -S /run/coffer/credentials.sock ] || echo "no socket is left"
echo "$(find /var/lib/private/coffer/0 -name vault.coffer | wc -l) vault is left"

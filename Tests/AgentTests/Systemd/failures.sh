# Servers whose vault or key is not the one of yesterday.
set -u
umask 077
state() { systemctl show --value --property "$2" "$1"; }
# What the service gets.
served() { rm -f /got; systemctl start web.service && cat /got; echo " ($1)"; }
hand() { systemd-creds encrypt --with-key=host --name=coffer.key "$1" "/etc/credstore.encrypted/coffer-$2.key" 2>/dev/null; }
printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "cat $CREDENTIALS_DIRECTORY/db >/got"\n' >/etc/systemd/system/web.service
install -d -m 700 /etc/credstore.encrypted
mkdir -p /etc/systemd/system/cofferd@0.service.d "/etc/systemd/system/cofferd-server@deploy.service.d"
printf '[Service]\nLoadCredentialEncrypted=coffer.key:/etc/credstore.encrypted/coffer-0.key\n' \
  >/etc/systemd/system/cofferd@0.service.d/key.conf
head -c 32 /dev/urandom >/root/key
head -c 32 /dev/urandom >/root/other
hand /root/key 0
systemctl daemon-reload
systemctl enable --now cofferd@0.socket coffer-credentials.socket 2>/dev/null
coffer vault init --system --key-file /root/key --no-passphrase
printf hunter2 | coffer set db.example/ada
coffer service add web.service db db.example/ada 2>/dev/null
coffer app grant unit:web.service default --read --key-file /root/key
coffer vault backup >/dev/null
systemctl daemon-reload
systemctl restart cofferd@0.service
served "at the start"

coffer vault rotate --force --key-file /root/key >/dev/null 2>&1 || echo "no new keys"
served "after new keys"

hand /root/other 0
systemctl restart cofferd@0.service
echo "another key: $(coffer agent status), $(state cofferd@0.service ActiveState), $(state cofferd@0.socket ActiveState)"
coffer vault unlock --key-file /root/key
served "unlocked by hand"
hand /root/key 0

systemctl stop cofferd@0.service 2>/dev/null
head -c 4096 /dev/urandom | dd of=/var/lib/private/coffer/0/vault.coffer conv=notrunc 2>/dev/null
systemctl start cofferd@0.service
echo "damaged: $(coffer agent status), $(state cofferd@0.service ActiveState), $(state cofferd@0.socket ActiveState)"
coffer vault restore --force --key-file /root/key >/dev/null 2>&1 || echo "not restored"
served "restored"

# An account whose key is another one: five starts, and no more.
useradd --create-home deploy
printf '[Service]\nLoadCredential=\nLoadCredentialEncrypted=coffer.key:/etc/credstore.encrypted/coffer-deploy.key\n' \
  >"/etc/systemd/system/cofferd-server@deploy.service.d/key.conf"
systemctl daemon-reload
hand /root/key deploy
install -o deploy -m 600 /root/key /home/deploy/key
deploy() { setpriv --reuid deploy --regid deploy --init-groups env HOME=/home/deploy "$@"; }
deploy coffer vault init --key-file /home/deploy/key --no-passphrase
systemctl start cofferd-server@deploy.service && echo "deploy: $(deploy coffer agent status)"
hand /root/other deploy
systemctl restart cofferd-server@deploy.service 2>/dev/null || echo "the start fails"
until [ "$(state cofferd-server@deploy.service ActiveState)" = failed ]; do sleep 0.1; done
echo "$(state cofferd-server@deploy.service NRestarts) more starts, and no others"

# A draft in the place of a vault of the system: the commands that the error names, with a key file instead of a terminal.
useradd --create-home ada
user=$(id -u ada)
ada() { setpriv --reuid ada --regid ada --init-groups env HOME=/home/ada "$@"; }
systemctl enable --now "cofferd@$user.socket" 2>/dev/null
install -o ada -m 600 /root/key /home/ada/key
ada coffer vault init --system --key-file /home/ada/key --no-passphrase
systemctl stop "cofferd@$user.service" 2>/dev/null
state=/var/lib/private/coffer/$user
rm -rf "${state:?}"/*
install -d -m 700 "$state/state"
install -m 600 /draft/device.key "$state/state"
install -m 600 /draft/vault.coffer /draft/key "$state"
chown -R --reference="$state" "$state"
ada coffer vault migrate 2>&1 | sed -n 's/^hint: as root: //p' >commands
sed -i "s/ --pty / --pipe --wait --quiet /; s|vault migrate|& --key-file /var/lib/coffer/$user/key|" commands
sh ./commands 2>/dev/null
install -o ada -m 600 /draft/passphrase /home/ada/passphrase
ada coffer vault verify --passphrase-fd 3 3</home/ada/passphrase

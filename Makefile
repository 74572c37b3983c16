# The face of the project. `make demo` and `make test` do all the set-up that a fresh Debian 12 with Swift needs.
PREFIX ?= /usr/local
DESTDIR ?=
# `make install DEFAULTS=1` also installs the name `defaults`, which another package may have.
DEFAULTS ?=
# After so many minutes the tests are ended, and the threads of what still runs are shown.
MINUTES ?= 240
SWIFT ?= swift

# The programs: optimised, with the Swift runtime linked in; no search path for libraries beside the program. The C++ runtime, which
# Swift's needs, is linked in as well where the compiler has it as an archive: that saves a tenth of the time to start.
# libzxcvbn is not: Debian's archive of it holds no position-independent code.
STATIC_LIBRARIES = $(CURDIR)/.build/static-libraries
# Functions are bound at start: when the loader binds one at its first call, it saves the vector registers, which may hold bytes of a
# secret, on the stack.
BIND = -Xlinker -z -Xlinker now
RELEASE = -c release $(BIND) --static-swift-stdlib --disable-local-rpath -Xlinker -L$(STATIC_LIBRARIES)
# The tests run optimised as well (a hundred thousand damaged files want it), in a build folder of their own.
TEST = --traits Combine -c release $(BIND) -Xswiftc -enable-testing --scratch-path .build-test
# Where SwiftPM leaves them: `make install` as root finds them without Swift in its PATH.
PROGRAMS ?= .build/release
COFFER = $(PROGRAMS)/coffer

# The module for log-ins, in C, by the compiler of the system. It has no symbol that it does not give to libpam.
MODULE = $(PROGRAMS)/pam_coffer.so
MODULE_FLAGS = -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
  -fstack-clash-protection -ftrivial-auto-var-init=zero -Wl,-z,relro,-z,now,-z,noexecstack,-z,defs
# Where modules lie below the prefix: beside the libpam that the built module uses, in Debian lib/x86_64-linux-gnu/security.
SECURITY = $(PREFIX)$(shell ldd $(MODULE) | sed -n 's|.* => \(/usr\)\{0,1\}\(/.*\)/libpam\.so\.0 .*|\2|p')/security

.PHONY: all demo test check lint docs asan tsan examples bench fuzz trust install uninstall clean setup setup-tests

all: setup
	@mkdir -p "$(STATIC_LIBRARIES)"
	@archive=$$($(CC) -print-file-name=libstdc++.a) && [ -f "$$archive" ] && ln -sf "$$archive" "$(STATIC_LIBRARIES)/" || true
	@archive=$$($(CC) -print-file-name=libnettle.a) && [ -f "$$archive" ] && ln -sf "$$archive" "$(STATIC_LIBRARIES)/" || true
	@archive=$$($(CC) -print-file-name=libargon2.a) && [ -f "$$archive" ] && ln -sf "$$archive" "$(STATIC_LIBRARIES)/" || true
	$(SWIFT) build $(RELEASE) --product coffer
	$(SWIFT) build $(RELEASE) --product cofferd
	$(SWIFT) build $(RELEASE) --product coffer-logind
	$(SWIFT) build $(RELEASE) --product coffer-strength
	$(SWIFT) build $(RELEASE) --product coffer-ssh-agent
	$(SWIFT) build $(RELEASE) --product coffer-secrets
	$(SWIFT) build $(RELEASE) --product coffer-sync
	$(MAKE) -s "$(MODULE)"

$(MODULE): Sources/PAMCoffer/pam_coffer.c
	$(CC) $(MODULE_FLAGS) -o "$@.$$$$" $< -lpam && mv "$@.$$$$" "$@"

setup:
	Scripts/setup

setup-tests:
	Scripts/setup --tests

demo: all
	Scripts/demo "$(COFFER)"

# Fails as well if a program closes a descriptor that is not open, see Tests/CloseCheck.
test: setup-tests examples
	$(SWIFT) build $(TEST) --build-tests
	Tests/bounded $(MINUTES) Tests/CloseCheck/run Tests/shards $(SWIFT) test $(TEST) --skip-build

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Vault Sources Tests Examples Fuzz Benchmarks/Package.swift Benchmarks/Sources

# The documentation of the libraries, to .build/debug/docs. `make test` runs the same script on the modules of the tests.
docs: setup
	$(SWIFT) build
	Scripts/docs

# The core's tests under the address sanitizer. The guard pages are meant to be hit: their fault is the test's to see.
asan: setup-tests
	COFFER_ONLY=VaultCoreTests ASAN_OPTIONS=handle_segv=0:detect_leaks=0 \
	  $(SWIFT) test --sanitize=address --scratch-path .build-asan --filter VaultCoreTests

# What has threads under the thread sanitizer, with a control that a race is reported.
tsan: setup-tests
	SWIFT="$(SWIFT)" Tests/ThreadSanitizer/run

# A package that depends on this one and has nothing else. The tests start its programs.
examples: setup
	SWIFT="$(SWIFT)" Examples/run

check: lint test asan tsan

bench: setup
	Benchmarks/run

fuzz: setup
	Fuzz/run

trust: setup-tests
	Tests/Mutation/run
	$(SWIFT) build $(TEST) --build-tests
	COFFER_TRUST=1 $(SWIFT) test $(TEST) --skip-build --filter 'PreferenceSafetyTests|SimulationTests|KillTests|aKilledAgent'

# Builds only what is not there: after `make`, root only copies. Without symbols, which take two thirds of the size and which nothing
# prints: a crash says no more than its signal.
install: $(if $(and $(wildcard $(COFFER)),$(wildcard $(MODULE))),,all)
	install -D -m 755 -s "$(COFFER)" "$(DESTDIR)$(PREFIX)/bin/coffer"
	install -D -m 755 -s "$(PROGRAMS)/cofferd" "$(DESTDIR)$(PREFIX)/bin/cofferd"
	install -D -m 755 -s "$(PROGRAMS)/coffer-logind" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-logind"
	install -D -m 755 -s "$(PROGRAMS)/coffer-strength" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-strength"
	install -D -m 755 -s "$(PROGRAMS)/coffer-ssh-agent" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-ssh-agent"
	install -D -m 755 -s "$(PROGRAMS)/coffer-secrets" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-secrets"
	install -D -m 755 -s "$(PROGRAMS)/coffer-sync" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-sync"
	install -D -m 644 -s "$(MODULE)" "$(DESTDIR)$(SECURITY)/pam_coffer.so"
	install -D -m 644 /dev/null "$(DESTDIR)$(PREFIX)/share/pam-configs/coffer"
	sed 's|@PREFIX@|$(PREFIX)|g; s|@SECURITY@|$(SECURITY)|g' Packaging/pam/coffer >"$(DESTDIR)$(PREFIX)/share/pam-configs/coffer"
	install -D -m 644 Packaging/portal/coffer.portal "$(DESTDIR)$(PREFIX)/share/xdg-desktop-portal/portals/coffer.portal"
	ln -sf coffer "$(DESTDIR)$(PREFIX)/bin/git-credential-coffer"
	ln -sf coffer "$(DESTDIR)$(PREFIX)/bin/docker-credential-coffer"
	ln -sf coffer "$(DESTDIR)$(PREFIX)/bin/cargo-credential-coffer"
	for unit in Packaging/systemd/user/*; do \
	  install -D -m 644 /dev/null "$(DESTDIR)$(PREFIX)/lib/systemd/user/$${unit##*/}" && \
	  sed 's|@PREFIX@|$(PREFIX)|g' "$$unit" >"$(DESTDIR)$(PREFIX)/lib/systemd/user/$${unit##*/}" || exit 1; \
	done
	for unit in Packaging/systemd/system/*; do \
	  install -D -m 644 /dev/null "$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}" && \
	  sed 's|@PREFIX@|$(PREFIX)|g' "$$unit" >"$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}" || exit 1; \
	done
	for page in docs/man/*.[1-8]; do \
	  install -D -m 644 "$$page" "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}" || exit 1; \
	done
	if [ -n "$(DEFAULTS)" ]; then \
	  ln -sf coffer "$(DESTDIR)$(PREFIX)/bin/defaults" && \
	  ln -sf coffer-defaults.1 "$(DESTDIR)$(PREFIX)/share/man/man1/defaults.1" || exit 1; \
	fi
	install -d "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	"$(COFFER)" completion bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/coffer"
	"$(COFFER)" completion zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_coffer"
	"$(COFFER)" completion fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/coffer.fish"

uninstall:
	rm -f "$(DESTDIR)$(PREFIX)/bin/coffer" "$(DESTDIR)$(PREFIX)/bin/cofferd" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-logind" \
	  "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-strength" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-ssh-agent" \
	  "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-secrets" "$(DESTDIR)$(PREFIX)/libexec/coffer/coffer-sync" \
	  "$(DESTDIR)$(PREFIX)/share/pam-configs/coffer" \
	  "$(DESTDIR)$(PREFIX)/share/xdg-desktop-portal/portals/coffer.portal" \
	  "$(DESTDIR)$(PREFIX)"/lib*/security/pam_coffer.so "$(DESTDIR)$(PREFIX)"/lib/*/security/pam_coffer.so \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/coffer" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_coffer" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/coffer.fish"
	for link in bin/git-credential-coffer bin/docker-credential-coffer bin/cargo-credential-coffer bin/defaults share/man/man1/defaults.1; do \
	  case "$$(readlink "$(DESTDIR)$(PREFIX)/$$link")" in coffer*) rm -f "$(DESTDIR)$(PREFIX)/$$link" ;; esac; \
	done
	for unit in Packaging/systemd/user/*; do rm -f "$(DESTDIR)$(PREFIX)/lib/systemd/user/$${unit##*/}"; done
	for unit in Packaging/systemd/system/*; do rm -f "$(DESTDIR)$(PREFIX)/lib/systemd/system/$${unit##*/}"; done
	for page in docs/man/*.[1-8]; do rm -f "$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/}"; done

clean:
	rm -rf .build .build-test .build-asan .build-tsan .build-examples Benchmarks/.build Fuzz/.build

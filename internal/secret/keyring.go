package secret

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"capstore/internal/fault"
)

// keyring holds the keyset that protects each secret's own data key. It comes
// from a file, which another process may rotate, or from the environment.
type keyring struct {
	path string // "" when the keyset came from the environment

	mu     sync.RWMutex
	text   string // of the file as it was read
	handle *keyset.Handle
	aead   tink.AEAD
}

// seal encrypts under a data key of its own, which the newest key protects.
func (k *keyring) seal(clear, bound []byte) ([]byte, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	sealed, err := k.aead.Encrypt(clear, bound)
	if err != nil {
		return nil, fmt.Errorf("seal secret: %w", err)
	}
	return sealed, nil
}

// open decrypts with whichever key fits. It fails when none does or when the
// text was bound to something else.
func (k *keyring) open(sealed, bound []byte) ([]byte, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.aead.Decrypt(sealed, bound)
}

// load reads the key file anew, where there is one and it changed.
func (k *keyring) load() error {
	if k.path == "" {
		return nil
	}
	text, err := readKeyFile(k.path)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.handle != nil && string(text) == k.text {
		return nil
	}
	return k.useLocked(string(text), "The key file "+k.path)
}

func (k *keyring) useLocked(text, where string) error {
	handle, err := parseKeyset(text)
	var envelope tink.AEAD
	if err == nil {
		envelope, err = envelopeOf(handle)
	}
	if err != nil {
		// The cause is left out: it may quote the key.
		return fault.New(fault.Unavailable, "secret_key_malformed", "%s does not hold a key of this program.", where).
			Do("Whoever runs this server should restore the key from a backup; without it the stored secrets cannot be read.")
	}
	k.text, k.handle, k.aead = text, handle, envelope
	return nil
}

// create makes the key file at the first start. Of two servers that start at
// once one makes it and both read it.
func (k *keyring) create() error {
	handle, err := keyset.NewHandle(aead.XChaCha20Poly1305KeyTemplate())
	if err != nil {
		return fmt.Errorf("make key: %w", err)
	}
	text, err := formatKeyset(handle)
	if err != nil {
		return err
	}
	if err := createKeyFile(k.path, []byte(text)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return k.load()
}

// add writes and uses a keyset with a new key in front; the old ones still
// read. It returns the new key's id.
func (k *keyring) add() (uint32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	manager := keyset.NewManagerFromHandle(k.handle)
	id, err := manager.Add(aead.XChaCha20Poly1305KeyTemplate())
	if err == nil {
		err = manager.SetPrimary(id)
	}
	if err != nil {
		return 0, fmt.Errorf("add key: %w", err)
	}
	return id, k.replaceLocked(manager)
}

// keepOnly drops every key but the one, unless another has taken its place in
// front in the meantime.
func (k *keyring) keepOnly(id uint32) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	info := k.handle.KeysetInfo()
	if info.GetPrimaryKeyId() != id || len(info.GetKeyInfo()) == 1 {
		return nil
	}
	manager := keyset.NewManagerFromHandle(k.handle)
	for _, key := range info.GetKeyInfo() {
		if key.GetKeyId() == id {
			continue
		}
		if err := manager.Delete(key.GetKeyId()); err != nil {
			return fmt.Errorf("drop key: %w", err)
		}
	}
	return k.replaceLocked(manager)
}

func (k *keyring) replaceLocked(manager *keyset.Manager) error {
	handle, err := manager.Handle()
	if err != nil {
		return fmt.Errorf("build keyset: %w", err)
	}
	text, err := formatKeyset(handle)
	if err != nil {
		return err
	}
	if err := replaceKeyFile(k.path, []byte(text)); err != nil {
		return err
	}
	return k.useLocked(text, "The key file "+k.path)
}

// envelopeOf gives each value a data key of its own, wrapped by the keyset.
func envelopeOf(handle *keyset.Handle) (tink.AEAD, error) {
	wrapping, err := aead.New(handle)
	if err != nil {
		return nil, err
	}
	return aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), wrapping), nil
}

// The keyset is written as one line of base64, fit for a variable as well.
func formatKeyset(handle *keyset.Handle) (string, error) {
	var b bytes.Buffer
	if err := insecurecleartextkeyset.Write(handle, keyset.NewBinaryWriter(&b)); err != nil {
		return "", fmt.Errorf("write keyset: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()) + "\n", nil
}

func parseKeyset(text string) (*keyset.Handle, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	return insecurecleartextkeyset.Read(keyset.NewBinaryReader(bytes.NewReader(raw)))
}

package upstream

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	pgperrors "github.com/ProtonMail/go-crypto/openpgp/errors"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

const (
	tagSignature = 2
	versionOld   = 3
	// oldHeadSize is the size of an old signature before its number.
	oldHeadSize = 19
)

// oldSignature is a signature of version 3, which go-crypto does not read. The Open Build Service
// wrote all signatures of pkgs.k8s.io in it, and still does for repositories of rpm packages.
//
// It covers the document, the kind and the creation time. It has no expiry.
type oldSignature struct {
	covered   []byte // the kind and the creation time
	created   time.Time
	issuer    uint64
	algorithm packet.PublicKeyAlgorithm
	hash      crypto.Hash
	number    []byte // of RSA
}

// oldHashes are the numbers of strongHashes in OpenPGP.
var oldHashes = map[byte]crypto.Hash{8: crypto.SHA256, 9: crypto.SHA384, 10: crypto.SHA512}

// splitSignatures separates signatures of version 3 from the rest.
func splitSignatures(from io.Reader) (old []oldSignature, others []byte, err error) {
	raw, err := readAll(from, "the signature", maxKey)
	if err != nil {
		return nil, nil, err
	}
	packets := packet.NewOpaqueReader(bytes.NewReader(raw))
	var rest bytes.Buffer
	for {
		p, err := packets.Next()
		switch {
		case errors.Is(err, io.EOF):
			return old, rest.Bytes(), nil
		case err != nil:
			return nil, nil, err
		case p.Tag != tagSignature || len(p.Contents) == 0 || p.Contents[0] != versionOld:
			if err := p.Serialize(&rest); err != nil {
				return nil, nil, err
			}
			continue
		}
		s, err := parseOld(p.Contents)
		if err != nil {
			return nil, nil, err
		}
		old = append(old, s)
	}
}

func parseOld(text []byte) (oldSignature, error) {
	if len(text) < oldHeadSize+2 || text[1] != 5 {
		return oldSignature{}, errors.New("it is damaged")
	}
	out := oldSignature{
		covered: text[2:7], created: time.Unix(int64(binary.BigEndian.Uint32(text[3:])), 0), issuer: binary.BigEndian.Uint64(text[7:]),
		algorithm: packet.PublicKeyAlgorithm(text[15]), hash: oldHashes[text[16]], number: text[oldHeadSize+2:],
	}
	// Any other kind would also fit the end of a newer signature, and so another document.
	if kind := packet.SignatureType(text[2]); kind != packet.SigTypeBinary && kind != packet.SigTypeText {
		return oldSignature{}, errors.New("it is not the signature of a document")
	}
	if bits := int(binary.BigEndian.Uint16(text[oldHeadSize:])); (bits+7)/8 != len(out.number) {
		return oldSignature{}, errors.New("it is damaged")
	}
	return out, nil
}

// verifyOld verifies a document that has only signatures of version 3.
func (k *keyring) verifyOld(document []byte, signatures []oldSignature) error {
	for _, s := range signatures {
		for _, key := range k.keys.KeysByIdUsage(s.issuer, packet.KeyFlagSign) {
			if key.PublicKey == key.Entity.PrimaryKey {
				return k.verifyOldWith(key, document, s)
			}
		}
	}
	return pgperrors.ErrUnknownIssuer
}

func (k *keyring) verifyOldWith(key openpgp.Key, document []byte, s oldSignature) error {
	public, ok := key.PublicKey.PublicKey.(*rsa.PublicKey)
	switch {
	case s.hash == 0:
		return errors.New("its hash is not SHA-256, SHA-384 or SHA-512")
	case !ok || s.algorithm != packet.PubKeyAlgoRSA && s.algorithm != packet.PubKeyAlgoRSASignOnly:
		return errors.New("a signature of version 3 must be of RSA")
	case len(s.number) > public.Size():
		return errors.New("it is damaged")
	}
	sum := s.hash.New()
	var into io.Writer = sum
	if packet.SignatureType(s.covered[0]) == packet.SigTypeText {
		into = openpgp.NewCanonicalTextHash(sum)
	}
	_, _ = into.Write(document) // a hash returns no error
	_, _ = sum.Write(s.covered)
	number := new(big.Int).SetBytes(s.number).FillBytes(make([]byte, public.Size()))
	if err := rsa.VerifyPKCS1v15(public, s.hash, sum.Sum(nil), number); err != nil {
		return err
	}
	return k.validNow(key.Entity, s.created)
}

// validNow checks what go-crypto checks of a key after it has verified a signature.
func (k *keyring) validNow(key *openpgp.Entity, created time.Time) error {
	now := k.now()
	self, identity := key.PrimarySelfSignature()
	switch {
	case key.Revoked(now), identity != nil && identity.Revoked(now):
		return pgperrors.ErrKeyRevoked
	case self == nil, key.PrimaryKey.KeyExpired(self, now):
		return pgperrors.ErrKeyExpired
	case self.SigExpired(now):
		return pgperrors.ErrSignatureExpired
	case created.After(now), created.Before(key.PrimaryKey.CreationTime):
		return fmt.Errorf("it was created on %s, before the key or in the future", created.UTC().Format(time.DateTime))
	}
	return nil
}

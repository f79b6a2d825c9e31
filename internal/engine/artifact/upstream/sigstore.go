package upstream

import (
	"cmp"
	_ "embed" // of the trust root
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	protobundle "github.com/sigstore/protobuf-specs/gen/pb-go/bundle/v1"
	protocommon "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	protorekor "github.com/sigstore/protobuf-specs/gen/pb-go/rekor/v1"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
)

// TransparencyLog is the address of the transparency log of sigstore's public instance.
const TransparencyLog = "https://rekor.sigstore.dev"

// The accounts of the Kubernetes project that sign, and who authenticates them.
const (
	BinarySigner = "krel-staging@k8s-releng-prod.iam.gserviceaccount.com"
	ImageSigner  = "krel-trust@k8s-releng-prod.iam.gserviceaccount.com"
	SignerIssuer = "https://accounts.google.com"
)

// signedEntries is the version of bundles whose entries of the log have a signed timestamp, and no
// proof of inclusion: a signature with its entry as cosign stores it beside an image.
const signedEntries = "application/vnd.dev.sigstore.bundle+json;version=0.1"

// trustedRoot names the authorities of sigstore's public instance. It is a target of its TUF
// repository, as github.com/sigstore/sigstore embeds it.
//
//go:embed trusted_root.json
var trustedRoot []byte

// Sigstore proves content by signatures of sigstore. The zero value trusts its public instance.
type Sigstore struct {
	// Trust names the authorities, by default those of the public instance.
	Trust root.TrustedMaterial
	// Log is the address of the transparency log, by default TransparencyLog.
	Log string
	Web Web
}

// signature is a signature with its certificate and its entry in the transparency log.
type signature struct {
	content     []byte
	certificate []byte // DER
	entry       entry
	timestamp   []byte // the log's signature of the entry
}

// entry is an entry of the transparency log, as the log and cosign encode it.
type entry struct {
	Body           string `json:"body"`
	IntegratedTime int64  `json:"integratedTime"`
	LogIndex       int64  `json:"logIndex"`
	LogID          string `json:"logID"`
}

// bundle returns the signature of content with a SHA-256 digest in the format of sigstore.
func (s *signature) bundle(digest []byte) (*bundle.Bundle, error) {
	body, err := base64.StdEncoding.DecodeString(s.entry.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read the entry of the transparency log: %w", err)
	}
	log, err := hex.DecodeString(s.entry.LogID)
	if err != nil {
		return nil, fmt.Errorf("cannot read the ID of the transparency log: %w", err)
	}
	return bundle.NewBundle(&protobundle.Bundle{
		MediaType: signedEntries,
		VerificationMaterial: &protobundle.VerificationMaterial{
			Content: &protobundle.VerificationMaterial_X509CertificateChain{X509CertificateChain: &protocommon.X509CertificateChain{
				Certificates: []*protocommon.X509Certificate{{RawBytes: s.certificate}},
			}},
			TlogEntries: []*protorekor.TransparencyLogEntry{{
				LogIndex:          s.entry.LogIndex,
				LogId:             &protocommon.LogId{KeyId: log},
				KindVersion:       &protorekor.KindVersion{Kind: entryKind, Version: entryVersion},
				IntegratedTime:    s.entry.IntegratedTime,
				InclusionPromise:  &protorekor.InclusionPromise{SignedEntryTimestamp: s.timestamp},
				CanonicalizedBody: body,
			}},
		},
		Content: &protobundle.Bundle_MessageSignature{MessageSignature: &protocommon.MessageSignature{
			MessageDigest: &protocommon.HashOutput{Algorithm: protocommon.HashAlgorithm_SHA2_256, Digest: digest},
			Signature:     s.content,
		}},
	})
}

// verify fails unless an account has signed content with a SHA-256 digest, while its certificate
// was valid. The time of the signature is that of its entry in the transparency log.
func (s *Sigstore) verify(signed *bundle.Bundle, digest []byte, account string) error {
	if signed.GetMessageSignature() == nil {
		return errors.New("it is not the signature of a file")
	}
	verifier, err := s.verifier()
	if err != nil {
		return err
	}
	signer, err := verify.NewShortCertificateIdentity(SignerIssuer, "", account, "")
	if err != nil {
		return err
	}
	policy := verify.NewPolicy(verify.WithArtifactDigest("sha256", digest), verify.WithCertificateIdentity(signer))
	_, err = verifier.Verify(signed, policy)
	return err
}

func (s *Sigstore) verifier() (*verify.Verifier, error) {
	trust := s.Trust
	if trust == nil {
		public, err := root.NewTrustedRootFromJSON(trustedRoot)
		if err != nil {
			return nil, fmt.Errorf("cannot read the embedded trust root: %w", err)
		}
		trust = public
	}
	options := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithIntegratedTimestamps(1)}
	if len(trust.CTLogs()) > 0 { // an instance need not log its certificates
		options = append(options, verify.WithSignedCertificateTimestamps(1))
	}
	return verify.NewVerifier(trust, options...)
}

func (s *Sigstore) log() string { return cmp.Or(s.Log, TransparencyLog) }

package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/netip"
	"time"
)

// certificateAge is the validity of the certificates of an external etcd, as kubeadm's.
const certificateAge = 365 * 24 * time.Hour

// etcdCA signs the certificates of an external etcd. Its key is not stored.
type etcdCA struct {
	certificate []byte
	parsed      *x509.Certificate
	key         *ecdsa.PrivateKey
}

// keyPair is a certificate with its key, in PEM.
type keyPair struct{ certificate, key []byte }

func newEtcdCA() (*etcdCA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template, err := certificateOf("etcd-ca")
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &etcdCA{certificate: pemOf("CERTIFICATE", der), parsed: template, key: key}, nil
}

// sign returns a certificate for clients, and for a member if it has addresses.
func (ca *etcdCA) sign(name string, addresses ...netip.Addr) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	template, err := certificateOf(name)
	if err != nil {
		return keyPair{}, err
	}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if len(addresses) > 0 {
		template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
		template.DNSNames, template.IPAddresses = []string{name, "localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, address.AsSlice())
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.parsed, key.Public(), ca.key)
	if err != nil {
		return keyPair{}, err
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return keyPair{}, err
	}
	return keyPair{pemOf("CERTIFICATE", der), pemOf("EC PRIVATE KEY", private)}, nil
}

func certificateOf(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateAge),
	}, nil
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

//go:build e2e

package serve

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/api/serve/v1alpha1/client"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// etcdData has all Secrets, which are not encrypted.
const etcdData = "/var/lib/etcd"

// insecure is a client that does not verify certificates: the server has signed its own.
func insecure(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// hasNoPassword fails if the password is anywhere but in the Secrets that have values of the shop:
// that of the form, that of the chart, Helm's records, and what a rollback would need.
func hasNoPassword(t *testing.T, s *bed.Site, n *cluster.Node, u *formUser, texts map[string]string) {
	t.Helper()
	ctx := t.Context()
	kubectl := func(args ...string) string {
		out, err := s.Kubectl(ctx, nil, args...)
		bed.Must(t, err)
		return string(out)
	}
	kinds := "clusterupgrades,nodeupgrades,nodereports,clusterreleases,components,componentupgrades,configmaps,events,leases,deployments,pods,controllerrevisions"
	texts["an object"] = kubectl("get", kinds, "--all-namespaces", "--output=yaml")
	for _, app := range []string{"refit-components", "refit-controller"} {
		texts["the log of "+app] = kubectl("logs", "--namespace="+namespaceOf(app), "--selector=app.kubernetes.io/name="+app, "--tail=-1", "--prefix")
	}
	for _, unit := range []string{unit, bed.AgentUnit, "kubelet.service"} {
		var log strings.Builder
		bed.Must(t, n.Journal(ctx, &log, cluster.JournalOptions{Unit: unit, Lines: 100000}))
		texts["the journal of "+unit] = log.String()
	}
	texts["the state"] = s.RunRefit(t, "status", "-o", "json") + s.RunRefit(t, "components", "explain", "shop", "-o", "json")
	bundle := filepath.Join(t.TempDir(), "bundle.tar.gz")
	collect(t, s, "--file", bundle)
	archive, err := os.ReadFile(bundle)
	bed.Must(t, err)
	texts["the support bundle"] = unpacked(t, archive)
	texts["the support bundle of the server"] = unpacked(t, u.supportBundle(t))
	for where, text := range texts {
		if text == "" || !strings.Contains(text, "shop") && !strings.HasPrefix(where, "the journal") {
			t.Errorf("%s does not mention the component", where)
		}
		if isIn(text) {
			t.Errorf("%s has the password", where)
		}
	}
	files, err := n.Exec(ctx, "sh", "-c", "grep --recursive --files-with-matches --fixed-strings "+password+" /var/lib/refit* /var/log /etc/refit* /run/refit* /tmp "+etcdData+" || true")
	bed.Must(t, err)
	stored := 0
	for file := range bed.Lines(string(files)) {
		if !strings.HasPrefix(file, etcdData) {
			t.Errorf("a file of the host has the password: %s", file)
			continue
		}
		stored++
	}
	if stored == 0 {
		t.Error("the files of the host were not searched: etcd has the Secrets")
	}
	secretsWithPassword(t, s)
}

func namespaceOf(app string) string {
	if app == "refit-controller" {
		return "refit-system"
	}
	return app
}

// isIn reports whether a text has the password, also encoded.
func isIn(text string) bool {
	return strings.Contains(text, password) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(password)))
}

// secretsWithPassword fails unless these Secrets have the password, and no other.
func secretsWithPassword(t *testing.T, s *bed.Site) {
	t.Helper()
	list, err := s.Client.CoreV1().Secrets(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	bed.Must(t, err)
	var got []string
	for i := range list.Items {
		if slices.ContainsFunc(textsOf(&list.Items[i]), isIn) {
			got = append(got, list.Items[i].Namespace+"/"+list.Items[i].Name)
		}
	}
	slices.Sort(got)
	want := []string{"refit-components/refit-form", "refit-components/refit-saved-shop-2", "shop/sh.helm.release.v1.shop.v1", "shop/sh.helm.release.v1.shop.v2", "shop/shop"}
	if !slices.Equal(got, want) {
		t.Errorf("the Secrets with the password are %v, want %v", got, want)
	}
}

// textsOf returns the data of a Secret, decompressed if it is a record of Helm or compressed
// otherwise.
func textsOf(secret *corev1.Secret) (texts []string) {
	for _, value := range secret.Data {
		texts = append(texts, string(value))
		if decoded, err := base64.StdEncoding.DecodeString(string(value)); err == nil {
			value = decoded
		}
		if plain, err := gunzip(value); err == nil {
			texts = append(texts, string(plain))
		}
	}
	return texts
}

func gunzip(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// unpacked returns the names and the content of all files of a support bundle.
func unpacked(t *testing.T, archive []byte) string {
	t.Helper()
	plain, err := gunzip(archive)
	bed.Must(t, err)
	var all strings.Builder
	for files := tar.NewReader(bytes.NewReader(plain)); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all.String()
		}
		bed.Must(t, err)
		content, err := io.ReadAll(files)
		bed.Must(t, err)
		if inner, err := gunzip(content); err == nil {
			content = inner
		}
		all.WriteString(header.Name + "\n")
		all.Write(content)
	}
}

// supportBundle collects a support bundle with the server.
func (u *formUser) supportBundle(t *testing.T) []byte {
	t.Helper()
	answer, err := u.api.CreateSupportBundleWithResponse(t.Context(), client.SupportBundleRequest{})
	bed.Must(t, err)
	var created client.SupportBundle
	bed.Must(t, json.Unmarshal(answer.Body, &created))
	var file []byte
	bed.Must(t, bed.Until(t.Context(), "the support bundle of the server", bed.CheckTimeout, func(ctx context.Context) error {
		answer, err := u.api.GetSupportBundleFileWithResponse(ctx, created.ID)
		if err == nil && answer.StatusCode() != http.StatusOK {
			err = errors.New(string(answer.Body))
		}
		if err == nil {
			file = answer.Body
		}
		return err
	}))
	return file
}

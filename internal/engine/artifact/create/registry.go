package create

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/refit-dev/refit/internal/engine/artifact/upstream"
)

// registry is a client of the OCI distribution API.
type registry struct {
	host, path string // in the names of images
	// server is the host that is queried, and prefix precedes the repositories there: those of a
	// mirror, or of the registry itself.
	scheme, server, prefix string
	token                  map[string]string // by repository
}

// manifestTypes are the accepted media types.
var manifestTypes = strings.Join([]string{
	"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json",
}, ", ")

var challengePart = regexp.MustCompile(`(realm|service|scope)="([^"]*)"`)

func newRegistry(repository, mirror string) *registry {
	r := &registry{token: map[string]string{}}
	r.scheme, r.host, r.path = splitRepository(repository)
	r.server = r.host
	if mirror != "" {
		r.scheme, r.server, r.prefix = splitRepository(mirror)
	}
	return r
}

// splitRepository returns the parts of a repository such as http://registry.example/mirror.
func splitRepository(repository string) (scheme, host, path string) {
	scheme = "https"
	if plain, is := strings.CutPrefix(repository, "http://"); is {
		scheme, repository = "http", plain
	}
	host, path, _ = strings.Cut(strings.Trim(strings.TrimPrefix(repository, "https://"), "/"), "/")
	return scheme, host, path
}

// nameOf returns the full name of an image. Only in the registry of upstream CoreDNS is in a folder
// of its own.
func (r *registry) nameOf(name, tag string) string {
	if r.host == Repository && r.path == "" && name == "coredns" {
		name = "coredns/coredns"
	}
	parts := []string{r.host}
	if r.path != "" {
		parts = append(parts, r.path)
	}
	return strings.Join(append(parts, name), "/") + ":" + tag
}

// upstreamName returns the name of an image in the registry of upstream, where CoreDNS is in a
// folder of its own.
func upstreamName(name string) string {
	if name == "coredns" {
		name = "coredns/coredns"
	}
	return Repository + "/" + name
}

// split returns the repository and the tag of an image of the registry.
func (r *registry) split(image string) (repository, tag string) {
	name := strings.TrimPrefix(image, r.host+"/")
	return path.Join(r.prefix, name[:strings.LastIndex(name, ":")]), name[strings.LastIndex(name, ":")+1:]
}

// configOf returns the digest of the configuration of an image for an architecture. It proves the
// document of the tag, and verifies those that this one references by digest.
func (r *registry) configOf(ctx context.Context, image, arch string, prove func(ctx context.Context, digest string) error) (string, error) {
	repository, tag := r.split(image)
	raw, err := r.get(ctx, repository, "manifests", tag, maxDocument)
	if err != nil {
		return "", err
	}
	if err := prove(ctx, digestOf(raw)); err != nil {
		return "", err
	}
	top, err := parse(raw)
	if err != nil {
		return "", err
	}
	if top.Config != nil {
		return r.checkConfig(ctx, repository, top.Config.Digest, arch)
	}
	for _, d := range top.Manifests {
		if d.Platform == nil || d.Platform.OS != "linux" || d.Platform.Architecture != arch {
			continue
		}
		raw, err := r.getByDigest(ctx, repository, "manifests", d.Digest)
		if err != nil {
			return "", err
		}
		next, err := parse(raw)
		if err != nil {
			return "", err
		}
		if next.Config == nil {
			return "", errors.New("the manifest has no configuration")
		}
		return r.checkConfig(ctx, repository, next.Config.Digest, arch)
	}
	return "", fmt.Errorf("not published for linux/%s", arch)
}

// checkConfig checks the platform of a configuration, since that in an index may be wrong.
func (r *registry) checkConfig(ctx context.Context, repository, digest, arch string) (string, error) {
	raw, err := r.getByDigest(ctx, repository, "blobs", digest)
	if err != nil {
		return "", err
	}
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return "", fmt.Errorf("cannot parse the configuration: %w", err)
	}
	if c.OS != "linux" || c.Architecture != arch {
		return "", fmt.Errorf("built for %s/%s", c.OS, c.Architecture)
	}
	return digest, nil
}

func parse(raw []byte) (document, error) {
	var out document
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, fmt.Errorf("cannot parse the manifest: %w", err)
	}
	return out, nil
}

func (r *registry) getByDigest(ctx context.Context, repository, kind, digest string) ([]byte, error) {
	raw, err := r.get(ctx, repository, kind, digest, maxDocument)
	if err == nil && digestOf(raw) != digest {
		err = fmt.Errorf("the registry returned other content for %s", digest)
	}
	return raw, err
}

func (r *registry) get(ctx context.Context, repository, kind, reference string, limit int64) ([]byte, error) {
	address := fmt.Sprintf("%s://%s/v2/%s/%s/%s", r.scheme, r.server, repository, kind, reference)
	headers := http.Header{"Accept": {manifestTypes}}
	if token := r.token[repository]; token != "" {
		headers.Set("Authorization", "Bearer "+token)
	}
	response, err := upstream.Request(ctx, http.MethodGet, address, headers)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusUnauthorized && r.token[repository] == "" {
		if err := r.login(ctx, repository, response.Header.Get("WWW-Authenticate")); err != nil {
			return nil, err
		}
		return r.get(ctx, repository, kind, reference, limit)
	}
	return upstream.ReadAll(response, address, limit)
}

// login gets an anonymous token.
func (r *registry) login(ctx context.Context, repository, challenge string) error {
	parameters := map[string]string{}
	for _, match := range challengePart.FindAllStringSubmatch(challenge, -1) {
		parameters[match[1]] = match[2]
	}
	realm, err := url.Parse(parameters["realm"])
	if !strings.HasPrefix(challenge, "Bearer ") || err != nil || (realm.Scheme != "https" && realm.Scheme != r.scheme) {
		return errors.New("the registry requires credentials: for private images, add archives to a directory")
	}
	query := realm.Query()
	query.Set("service", parameters["service"])
	query.Set("scope", "repository:"+repository+":pull")
	realm.RawQuery = query.Encode()
	response, err := upstream.Request(ctx, http.MethodGet, realm.String(), nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	raw, err := upstream.ReadAll(response, realm.Host, maxDocument)
	if err != nil {
		return err
	}
	var got struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	if json.Unmarshal(raw, &got) != nil || got.Token+got.Access == "" {
		return errors.New("the registry returned no token")
	}
	r.token[repository] = got.Token
	if got.Token == "" {
		r.token[repository] = got.Access
	}
	return nil
}

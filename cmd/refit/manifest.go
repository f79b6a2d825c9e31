package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

const upgradeKind = "ClusterUpgrade"

// decoder reads Refit's objects. A field that they do not have is an error: a misspelled policy must not be a policy that is not there.
var decoder = sync.OnceValues(func() (runtime.Decoder, error) {
	scheme := runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer(), nil
})

// readManifest reads a ClusterUpgrade.
func readManifest(a *app, name string) (*refitv1alpha1.ClusterUpgrade, error) {
	raw, err := a.open(name)
	if err != nil {
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	if name == stdio {
		name = "stdin"
	}
	document, err := onlyDocument(raw, upgradeKind)
	if err != nil {
		return nil, usage("%s: %w", name, err)
	}
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, usage("%s is no YAML or JSON: %w", name, err)
	}
	if kind.Kind != upgradeKind || kind.APIVersion != refitv1alpha1.GroupVersion.String() {
		return nil, usage("%s: expected a %s of %s, found kind %q of apiVersion %q", name, upgradeKind, refitv1alpha1.GroupVersion, kind.Kind, kind.APIVersion)
	}
	decode, err := decoder()
	if err != nil {
		return nil, err
	}
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if _, _, err := decode.Decode(document, nil, upgrade); err != nil {
		return nil, usage("%s: %s", name, strings.TrimPrefix(err.Error(), "strict decoding error: "))
	}
	if err := refuseNothing(document); err != nil {
		return nil, usage("%s: %w", name, err)
	}
	return upgrade, nil
}

// onlyDocument is the one YAML document of a file that is not empty. Of two, taking the first would be a guess.
func onlyDocument(raw []byte, kind string) ([]byte, error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	var only []byte
	for {
		document, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF) && only == nil:
			return nil, errors.New("it is empty")
		case errors.Is(err, io.EOF):
			return only, nil
		case err != nil:
			return nil, err
		case len(bytes.TrimSpace(document)) == 0:
			continue
		case only != nil:
			return nil, fmt.Errorf("it holds more than one object: give it one %s", kind)
		}
		only = document
	}
}

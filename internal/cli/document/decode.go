package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// decoder decodes Refit's objects. An unknown field is an error: a misspelled policy must not be
// ignored.
var decoder = sync.OnceValues(func() (runtime.Decoder, error) {
	scheme := runtime.NewScheme()
	if err := refitv1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer(), nil
})

// Decode decodes an object of Refit from YAML or JSON. Unknown fields are an error.
func Decode(document []byte, into runtime.Object) error {
	decode, err := decoder()
	if err != nil {
		return err
	}
	if _, _, err := decode.Decode(document, nil, into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "strict decoding error: "))
	}
	return nil
}

// Only returns the only YAML document of a file that is not empty. With two of them, taking the
// first would be a guess.
func Only(raw []byte, kind string) ([]byte, error) {
	all, err := All(raw)
	switch {
	case err != nil:
		return nil, err
	case len(all) > 1:
		return nil, fmt.Errorf("it holds more than one object: give it one %s", kind)
	}
	return all[0], nil
}

// All returns the YAML documents of a file that are not empty. There is at least one.
func All(raw []byte) (out [][]byte, err error) {
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for {
		document, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF) && out == nil:
			return nil, errors.New("the file is empty")
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		case len(bytes.TrimSpace(document)) > 0:
			out = append(out, document)
		}
	}
}

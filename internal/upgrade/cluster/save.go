package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/plaintext"
)

// The apiVersion of a saved Snapshot is the group, "v" and the Format.
const (
	savedGroup = "snapshot.refit.dev"
	savedKind  = "Snapshot"
)

// ErrNewerFormat means that a newer Refit saved the Snapshot. Read it with that version, or take
// another Snapshot.
var ErrNewerFormat = errors.New("the Snapshot was saved by a newer Refit")

// Encode writes a Snapshot as JSON, so that plans can be made from it without the cluster.
func Encode(w io.Writer, s *Snapshot) error {
	saved := *s
	saved.APIVersion, saved.Kind = savedGroup+"/v"+strconv.Itoa(Format), savedKind
	var document bytes.Buffer
	encoder := json.NewEncoder(&document)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&saved); err != nil {
		return fmt.Errorf("cannot save the Snapshot: %w", err)
	}
	// Users print the file to a terminal.
	if _, err := w.Write(plaintext.EscapeJSON(document.Bytes())); err != nil {
		return fmt.Errorf("cannot save the Snapshot: %w", err)
	}
	return nil
}

// Decode reads a Snapshot that Encode wrote. It rejects a file with invalid references, such as one
// that was edited, so that callers can rely on them.
func Decode(r io.Reader) (*Snapshot, error) {
	s := &Snapshot{}
	// The format is checked first: a newer one may not decode.
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("cannot read the Snapshot: %w", err)
	}
	if err := checkFormat(raw); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("cannot read the Snapshot: %w", err)
	}
	if err := s.checkReferences(); err != nil {
		return nil, fmt.Errorf("cannot read the Snapshot: %w", err)
	}
	return s, nil
}

func checkFormat(raw []byte) error {
	named, err := readName(raw)
	if errors.Is(err, io.EOF) {
		return errors.New("not a saved Snapshot: it is empty")
	}
	if err != nil {
		return fmt.Errorf("not a saved Snapshot: %w", err)
	}
	if named == (savedName{}) {
		return errors.New("not a saved Snapshot: it has neither apiVersion nor kind")
	}
	number, ours := strings.CutPrefix(named.APIVersion, savedGroup+"/v")
	if !ours || named.Kind != savedKind {
		return fmt.Errorf("not a saved Snapshot: kind %q of apiVersion %q", named.Kind, named.APIVersion)
	}
	format, err := strconv.Atoi(number)
	if err != nil || format < 1 {
		return fmt.Errorf("not a saved Snapshot: invalid format %q", named.APIVersion)
	}
	if format > Format {
		return fmt.Errorf("%w: its format is %d, and this version reads up to %d", ErrNewerFormat, format, Format)
	}
	return nil
}

type savedName struct{ APIVersion, Kind string }

// readName reads apiVersion and kind. Encode writes them first, so that a large file is not decoded
// twice.
func readName(raw []byte) (savedName, error) {
	var name savedName
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil {
		return name, err
	} else if start != json.Delim('{') {
		return name, errors.New("not a JSON object")
	}
	for decoder.More() && (name.APIVersion == "" || name.Kind == "") {
		key, err := decoder.Token()
		if err != nil {
			return name, err
		}
		var to any = new(json.RawMessage)
		switch key {
		case "apiVersion":
			to = &name.APIVersion
		case "kind":
			to = &name.Kind
		}
		if err := decoder.Decode(to); err != nil {
			return name, err
		}
	}
	return name, nil
}

// checkReferences rejects indexes beyond a list, and ambiguous node names.
func (s *Snapshot) checkReferences() error {
	seen := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Name == "" || seen[n.Name] {
			return fmt.Errorf("node name %q is empty or not unique", n.Name)
		}
		seen[n.Name] = true
		for _, set := range n.Pods {
			if set.Workload < 0 || set.Workload >= len(s.Workloads) {
				return fmt.Errorf("node %s has pods of workload %d, which does not exist", n.Name, set.Workload)
			}
		}
	}
	return nil
}

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

// How a saved Snapshot names itself: group, "v" and the Format.
const (
	savedGroup = "snapshot.refit.dev"
	savedKind  = "Snapshot"
)

// ErrNewerFormat is that a newer Refit saved the Snapshot: read it with that one, or take a new one.
var ErrNewerFormat = errors.New("the Snapshot was saved by a newer Refit")

// Encode saves a Snapshot as JSON, to be planned from later and elsewhere.
func Encode(w io.Writer, s *Snapshot) error {
	saved := *s
	saved.APIVersion, saved.Kind = savedGroup+"/v"+strconv.Itoa(Format), savedKind
	var document bytes.Buffer
	encoder := json.NewEncoder(&document)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(&saved); err != nil {
		return fmt.Errorf("saving a Snapshot: %w", err)
	}
	if _, err := w.Write(plaintext.EscapeJSON(document.Bytes())); err != nil { // people look at it, also in a terminal
		return fmt.Errorf("saving a Snapshot: %w", err)
	}
	return nil
}

// Decode reads a Snapshot that Encode saved. Whoever thinks about it can rely on its references: a file that was changed by hand is refused
// if they no longer hold.
func Decode(r io.Reader) (*Snapshot, error) {
	s := &Snapshot{}
	// The format is looked at first of all: a newer one may well not decode.
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading a Snapshot: %w", err)
	}
	if err := checkFormat(raw); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, fmt.Errorf("reading a Snapshot: %w", err)
	}
	if err := s.checkReferences(); err != nil {
		return nil, fmt.Errorf("reading a Snapshot: %w; take a new one", err)
	}
	return s, nil
}

func checkFormat(raw []byte) error {
	named, err := readName(raw)
	if err != nil {
		return fmt.Errorf("this is no saved Snapshot: %w", err)
	}
	number, ours := strings.CutPrefix(named.APIVersion, savedGroup+"/v")
	if !ours || named.Kind != savedKind {
		return fmt.Errorf("this is no saved Snapshot: it says that it is a %q of %q", named.Kind, named.APIVersion)
	}
	format, err := strconv.Atoi(number)
	if err != nil || format < 1 {
		return fmt.Errorf("this is no saved Snapshot: %q is no format", named.APIVersion)
	}
	if format > Format {
		return fmt.Errorf("%w: its format is %d, this one reads up to %d", ErrNewerFormat, format, Format)
	}
	return nil
}

type savedName struct{ APIVersion, Kind string }

// readName reads how a file names itself. Encode writes that first, so that a large file is read once and not twice.
func readName(raw []byte) (savedName, error) {
	var name savedName
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if start, err := decoder.Token(); err != nil {
		return name, err
	} else if start != json.Delim('{') {
		return name, errors.New("it is no object")
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

// checkReferences finds what would make thinking code read past the end of a list, or take one node for another.
func (s *Snapshot) checkReferences() error {
	seen := make(map[string]bool, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Name == "" || seen[n.Name] {
			return fmt.Errorf("the node name %q is empty or there twice", n.Name)
		}
		seen[n.Name] = true
		for _, set := range n.Pods {
			if set.Workload < 0 || set.Workload >= len(s.Workloads) {
				return fmt.Errorf("node %s has pods of workload %d, which is not there", n.Name, set.Workload)
			}
		}
	}
	return nil
}

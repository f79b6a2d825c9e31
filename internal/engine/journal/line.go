package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"unicode/utf8"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// header is the first line.
type header struct {
	Format    int    `json:"refitJournal"`
	MachineID string `json:"machineID"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const prefix = 9 // eight digits and a space

func headerLine(machineID string) ([]byte, error) {
	document, err := json.Marshal(header{Format: Format, MachineID: machineID})
	if err != nil {
		return nil, fmt.Errorf("cannot write the header of a journal: %w", err)
	}
	return sum(document), nil
}

// recordLine returns a record as a line, and as it is read back.
func recordLine(r node.Record) ([]byte, node.Record, error) {
	document, err := fit(r)
	if err != nil {
		return nil, r, err
	}
	var written node.Record
	if err := json.Unmarshal(document, &written); err != nil {
		return nil, r, fmt.Errorf("cannot write a record of kind %s: %w", r.Kind, err)
	}
	return sum(document), written, nil
}

// fit returns the JSON of a record within MaxRecord: it first shortens the log of a failure, then
// its texts.
func fit(r node.Record) ([]byte, error) {
	if r.Failure != nil {
		failure := *r.Failure
		// The wrapped error is not part of the JSON, but the operator needs it.
		failure.Message, failure.Err = r.Failure.Error(), nil
		failure.LogTail = refitv1alpha1.ClipFront(failure.LogTail, 4*refitv1alpha1.MaxLogTail)
		r.Failure = &failure
	}
	for {
		document, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("cannot write a record of kind %s: %w", r.Kind, err)
		}
		if len(document) <= MaxRecord {
			return document, nil
		}
		if r.Failure == nil || !shorten(r.Failure) {
			return nil, fmt.Errorf("cannot write a record of kind %s: it has %d bytes, and %d are the maximum", r.Kind, len(document), MaxRecord)
		}
	}
}

func shorten(f *node.Failure) bool {
	const short = 256
	if n := utf8.RuneCountInString(f.LogTail); n > short {
		f.LogTail = refitv1alpha1.ClipFront(f.LogTail, n/2)
		return true
	}
	if n := utf8.RuneCountInString(f.Message); n > short {
		f.Message = refitv1alpha1.Clip(f.Message, n/2)
		return true
	}
	if n := utf8.RuneCountInString(f.Remedy); n > short {
		f.Remedy = refitv1alpha1.Clip(f.Remedy, n/2)
		return true
	}
	return false
}

func sum(document []byte) []byte {
	return fmt.Appendf(make([]byte, 0, prefix+len(document)+1), "%08x %s\n", crc32.Checksum(document, castagnoli), document)
}

// document returns the JSON of a line without its newline. ok is false if the checksum is wrong.
func document(line []byte) (text []byte, ok bool) {
	if len(line) <= prefix || line[prefix-1] != ' ' {
		return nil, false
	}
	// Only lower case digits, as sum writes them, so that every flipped bit is detected.
	want := make([]byte, 4)
	if _, err := hex.Decode(want, line[:prefix-1]); err != nil || !bytes.Equal(bytes.ToLower(line[:prefix-1]), line[:prefix-1]) {
		return nil, false
	}
	text = line[prefix:]
	have := crc32.Checksum(text, castagnoli)
	return text, bytes.Equal(want, []byte{byte(have >> 24), byte(have >> 16), byte(have >> 8), byte(have)})
}

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	seconds := flag.String("time", os.Getenv("SOURCE_DATE_EPOCH"), "creation `time` in seconds since 1970: that of the commit")
	version := flag.String("version", "", "`version` of the binary")
	commit := flag.String("commit", "", "`commit` that the binary was built from")
	to := flag.String("to", "", "`file` to write")
	flag.Parse()
	if err := run(*seconds, *version, *commit, *to, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run writes the document about a binary. The name of the file without its extension is that of the
// document.
func run(seconds, version, commit, to string, binaries []string) error {
	if version == "" || commit == "" || to == "" || len(binaries) != 1 {
		return errors.New("specify -version, -commit, -to and one binary")
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("specify -time or SOURCE_DATE_EPOCH in seconds: %w", err)
	}
	content, err := os.ReadFile(binaries[0])
	if err != nil {
		return fmt.Errorf("cannot read the binary: %w", err)
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("cannot read the build info of %s: %w", binaries[0], err)
	}
	name := strings.TrimSuffix(filepath.Base(to), ".spdx.json")
	out, err := json.MarshalIndent(newDocument(name, version, commit, content, info, time.Unix(at, 0)), "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, append(out, '\n'), 0o644); err != nil {
		return fmt.Errorf("cannot write the document: %w", err)
	}
	return nil
}

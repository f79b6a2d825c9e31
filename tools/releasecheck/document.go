package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
)

// spdx is the part of an SPDX document that is compared with a binary.
type spdx struct {
	Version  string `json:"spdxVersion"`
	Packages []struct {
		Name      string
		Version   string `json:"versionInfo"`
		Checksums []struct{ Algorithm, ChecksumValue string }
	}
}

// checkDocument checks that a document is about a binary and lists each of its modules.
func (r release) checkDocument(p product, binary []byte, info *debug.BuildInfo) error {
	raw, err := os.ReadFile(filepath.Join(r.dir, r.document(p)))
	if err != nil {
		return err
	}
	var doc spdx
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	if doc.Version != "SPDX-2.3" {
		return fmt.Errorf("it is %q", doc.Version)
	}
	sum := sha256.Sum256(binary)
	digest, about := hex.EncodeToString(sum[:]), false
	listed := map[string][]string{}
	for _, p := range doc.Packages {
		listed[p.Name] = append(listed[p.Name], p.Version)
		for _, c := range p.Checksums {
			about = about || c.Algorithm == "SHA256" && c.ChecksumValue == digest
		}
	}
	if !about {
		return fmt.Errorf("no package has the digest %s of the binary", digest)
	}
	var missing []error
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if !slices.Contains(listed[module.Path], module.Version) {
			missing = append(missing, fmt.Errorf("%s@%s is missing", module.Path, module.Version))
		}
	}
	return errors.Join(missing...)
}

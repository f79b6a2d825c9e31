package report

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// maxIncludes is the limit for the number of files of keepalived's configuration.
const maxIncludes = 32

// keepalived reads keepalived's configuration.
func (s *Sources) keepalived() ([]refitv1alpha1.VirtualIPFacts, error) {
	c := &keepalivedConfig{}
	if err := s.readKeepalived(c, keepalivedConf); err != nil {
		if errors.Is(err, fs.ErrNotExist) && c.files == 0 {
			return nil, nil // not installed
		}
		return nil, fmt.Errorf("cannot read the configuration of keepalived: %w", err)
	}
	return c.facts(), nil
}

// readKeepalived reads a file and those that it includes. Relative paths start at its directory.
func (s *Sources) readKeepalived(c *keepalivedConfig, path string) error {
	text, err := readSmall(s.path(path))
	if err != nil {
		return err
	}
	if c.files++; c.files > maxIncludes {
		return fmt.Errorf("it has more than %d files", maxIncludes)
	}
	for line := range strings.Lines(string(text)) {
		words := keepalivedWords(line)
		if len(words) < 2 || !strings.HasPrefix(words[0], "include") {
			c.add(words)
			continue
		}
		pattern := words[1]
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(filepath.Dir(path), pattern)
		}
		included, err := filepath.Glob(s.path(pattern))
		if err != nil {
			return err
		}
		for _, file := range included {
			if err := s.readKeepalived(c, strings.TrimPrefix(file, s.root)); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepalivedWords splits a line into words and braces, without its comment.
func keepalivedWords(line string) []string {
	if at := strings.IndexAny(line, "#!"); at >= 0 {
		line = line[:at]
	}
	line = strings.NewReplacer("{", " { ", "}", " } ", `"`, " ").Replace(line)
	return strings.Fields(line)
}

// keepalivedConfig is the part of keepalived's configuration that determines which addresses it
// moves, and whether it checks anything.
type keepalivedConfig struct {
	files     int
	open      []string // the blocks around the current line
	instances []keepalivedInstance
	grouped   []string // instances of sync groups that check something
	members   []string // instances of the current sync group
	checked   bool     // whether the current sync group checks something
}

type keepalivedInstance struct {
	name      string
	addresses []string
	checked   bool
}

// keepalivedChecks are the blocks of an instance or a sync group that move an address when
// something other than the link fails.
var keepalivedChecks = []string{"track_script", "track_process", "track_file"}

// add adds the words of a line.
func (c *keepalivedConfig) add(words []string) {
	for i := 0; i < len(words); {
		statement := words[i:]
		if end := slices.IndexFunc(statement, func(word string) bool { return word == "{" || word == "}" }); end >= 0 {
			statement = statement[:end]
		}
		c.statement(statement)
		if i += len(statement); i == len(words) {
			return
		}
		if words[i] == "{" {
			c.begin(statement)
		} else {
			c.end()
		}
		i++
	}
}

// statement adds an entry of a block.
func (c *keepalivedConfig) statement(words []string) {
	if len(words) == 0 || len(c.open) < 2 {
		return
	}
	switch block := c.open[1]; {
	case c.open[0] == "vrrp_instance" && strings.HasPrefix(block, "virtual_ipaddress"):
		address, _, _ := strings.Cut(words[0], "/")
		instance := &c.instances[len(c.instances)-1]
		instance.addresses = append(instance.addresses, address)
	case c.open[0] == "vrrp_sync_group" && block == "group":
		c.members = append(c.members, words...)
	case slices.Contains(keepalivedChecks, block):
		c.check()
	}
}

// check records that the current instance or group checks something.
func (c *keepalivedConfig) check() {
	switch c.open[0] {
	case "vrrp_instance":
		c.instances[len(c.instances)-1].checked = true
	case "vrrp_sync_group":
		c.checked = true
	}
}

func (c *keepalivedConfig) begin(words []string) {
	block := ""
	if len(words) > 0 {
		block = words[0]
	}
	if c.open = append(c.open, block); len(c.open) > 1 {
		return
	}
	name := ""
	if len(words) > 1 {
		name = words[1]
	}
	switch block {
	case "vrrp_instance":
		c.instances = append(c.instances, keepalivedInstance{name: name})
	case "vrrp_sync_group":
		c.members, c.checked = nil, false
	}
}

func (c *keepalivedConfig) end() {
	if len(c.open) == 1 && c.open[0] == "vrrp_sync_group" && c.checked {
		c.grouped = append(c.grouped, c.members...)
	}
	if len(c.open) > 0 {
		c.open = c.open[:len(c.open)-1]
	}
}

func (c *keepalivedConfig) facts() []refitv1alpha1.VirtualIPFacts {
	var found []refitv1alpha1.VirtualIPFacts
	for _, instance := range c.instances {
		checked := instance.checked || slices.Contains(c.grouped, instance.name)
		for _, address := range instance.addresses {
			found = append(found, refitv1alpha1.VirtualIPFacts{Address: address, Software: refitv1alpha1.Keepalived, HealthCheck: &checked})
		}
	}
	return found
}

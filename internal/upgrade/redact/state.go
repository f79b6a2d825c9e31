package redact

import (
	"regexp"
	"strings"
)

// The limits of a PEM block whose end is missing. A key of 16384 bits has 200 lines.
const (
	maxPEMLines  = 256
	maxPEMPauses = 8 // lines of others between those of a block
)

// state is what earlier lines of a stream mean for the next one.
type state struct {
	pem, pauses int    // lines that may still belong to a private key; those without base64 in a row
	block       *block // of YAML
	variable    bool   // the last line was the name of an environment variable with a secret
}

// block is a block of YAML: all lines that are indented further.
type block struct {
	indent int
	rule   string
	values bool // only values that are base64: data of a ConfigMap is text
}

// spans returns what the state redacts in a line, and observes the line.
func (s *state) spans(r *Redactor, line string) (out []span) {
	if r.has(rulePrivateKey) {
		out = append(out, s.key(line)...)
	}
	out = append(out, s.yaml(r, line)...)
	if r.has(ruleEnv) {
		out = append(out, s.env(line)...)
	}
	return out
}

var (
	run      = regexp.MustCompile(`[A-Za-z0-9+/]{12,}={0,2}`)
	lastWord = regexp.MustCompile(`[A-Za-z0-9+/]*[A-Z0-9+/=][A-Za-z0-9+/]*={0,2}\s*$`)
	pemMeta  = regexp.MustCompile(`(?:Proc-Type|DEK-Info):.*`)
	// wrappedKey is the begin of a PEM block in base64 that is folded into lines.
	wrappedKey = regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}$`)
)

// key redacts the lines of a private key that an earlier line began.
func (s *state) key(line string) (out []span) {
	if s.pem > 0 {
		out = s.body(line)
	}
	var begins [][]int
	if strings.Contains(line, "-----BEGIN") {
		begins = pemBegin.FindAllStringIndex(line, -1)
	}
	switch {
	case len(begins) > 0 && pemEnd.FindStringIndex(line[begins[len(begins)-1][1]:]) == nil:
		s.pem, s.pauses = maxPEMLines, 0
	case len(begins) > 0:
		s.pem = 0
	case s.foldedKey(line):
		s.pem, s.pauses = maxPEMLines, 0
	}
	return out
}

// foldedKey is true if a line ends with the begin of a private key in base64.
func (s *state) foldedKey(line string) bool {
	if !strings.Contains(line, "LS0tLS1CRUdJTi") {
		return false
	}
	decoded, ok := decode(strings.TrimSpace(wrappedKey.FindString(line)))
	return ok && pemBegin.Match(decoded)
}

func (s *state) body(line string) (out []span) {
	s.pem--
	if end := pemEnd.FindStringIndex(line); end != nil {
		s.pem = 0
		line = line[:end[0]]
	}
	for _, expression := range []*regexp.Regexp{run, lastWord, pemMeta} {
		out = append(out, all(expression, 0, line)...)
	}
	s.pauses++
	if run.MatchString(line) {
		s.pauses = 0
	}
	if s.pauses > maxPEMPauses {
		s.pem = 0
	}
	for i := range out {
		out[i].rule = rulePrivateKey
	}
	return out
}

var (
	yamlBlock = regexp.MustCompile(`^([\s-]*)["']?([A-Za-z0-9_./-]+)["']?:\s*([|>][+-]?\d?)?\s*$`)
	yamlValue = regexp.MustCompile(`^\s*["']?[A-Za-z0-9_./-]+["']?:\s*["']?([^\s"']+)["']?\s*$`)
	blockText = regexp.MustCompile(`^[\s-]*(\S.*?)\s*$`)
)

// yaml redacts the lines of a block that an earlier line began.
func (s *state) yaml(r *Redactor, line string) []span {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if s.block != nil && indentOf(line) > s.block.indent {
		return s.block.spans(line)
	}
	s.block = nil
	if last := strings.TrimRight(line, " \t\r"); strings.IndexByte(":|>+-0123456789", last[len(last)-1]) < 0 {
		return nil
	}
	found := yamlBlock.FindStringSubmatch(line)
	if found == nil {
		return nil
	}
	name, scalar := found[2], found[3] != ""
	b := &block{indent: len(found[1])}
	switch {
	case name == "stringData" || name == "data":
		b.rule, b.values = ruleSecretData, name == "data"
	case scalar && name == lastApplied:
		b.rule = ruleLastApplied
	case scalar && secretName(name):
		b.rule = ruleNamed
	}
	if b.rule != "" && r.has(b.rule) {
		s.block = b
	}
	return nil
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func (b *block) spans(line string) (out []span) {
	switch value := yamlValue.FindStringSubmatchIndex(line); {
	case b.values && (len(value) < 4 || !plainBase64(line[value[2]:value[3]])):
		return nil
	case value != nil && b.rule == ruleSecretData:
		out = []span{{from: value[2], to: value[3]}}
	case b.rule == ruleSecretData && yamlBlock.MatchString(line):
		return nil // the name of a value that follows
	default:
		out = all(blockText, 1, line)
	}
	for i := range out {
		out[i].rule = b.rule
	}
	return out
}

var base64Value = regexp.MustCompile(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`)

func plainBase64(text string) bool { return base64Value.MatchString(text) }

var (
	envName  = regexp.MustCompile(`^[\s-]*["']?name["']?:\s*["']?([A-Za-z0-9_.-]+)["']?,?\s*$`)
	envValue = regexp.MustCompile(`^\s*["']?value["']?:\s*`)
)

// env redacts the value in the line after the name of an environment variable.
func (s *state) env(line string) []span {
	after := s.variable
	s.variable = false
	if strings.Contains(line, "name") {
		found := envName.FindStringSubmatch(line)
		s.variable = len(found) > 1 && secretVariable(found[1])
	}
	if !after {
		return nil
	}
	at := envValue.FindStringIndex(line)
	if at == nil {
		return nil
	}
	value := valueAt(line, at[1], true)
	if harmlessValue(line[value.from:value.to]) {
		return nil
	}
	value.rule = ruleEnv
	return []span{value}
}

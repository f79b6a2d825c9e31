package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

const kubeletUnit = "kubelet.service"

func (s *Sources) unit(ctx context.Context, name string) (host.Unit, error) {
	if s.Unit != nil {
		return s.Unit(ctx, name)
	}
	systemd, err := host.ConnectSystemd(ctx)
	if err != nil {
		return host.Unit{}, err
	}
	defer systemd.Close()
	return systemd.Unit(ctx, name)
}

// kubeletBinary returns the file that systemd would start.
func (s *Sources) kubeletBinary(ctx context.Context) (string, error) {
	if unit, err := s.unit(ctx, kubeletUnit); err == nil && len(unit.ExecStart) > 0 && filepath.IsAbs(unit.ExecStart[0]) {
		return unit.ExecStart[0], nil
	}
	return host.LookPath("kubelet")
}

func kubelet(ctx context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	unit, err := s.unit(ctx, kubeletUnit)
	if err != nil {
		return nil, err
	}
	var problems []error
	var running, onDisk string
	if unit.MainPID > 0 { // the running binary, even if its file was replaced
		running, err = s.version(ctx, fmt.Sprintf("/proc/%d/exe", unit.MainPID), "--version")
		problems = append(problems, err)
	}
	if binary, err := s.kubeletBinary(ctx); err == nil {
		onDisk, err = s.version(ctx, binary, "--version")
		problems = append(problems, err)
	}
	facts, err := s.kubeletFacts(unit)
	problems = append(problems, err)
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.Versions.Kubelet, to.Versions.KubeletOnDisk, to.Kubelet = running, onDisk, facts
	}, errors.Join(problems...)
}

func (s *Sources) kubeletFacts(unit host.Unit) (*refitv1alpha1.KubeletFacts, error) {
	started := kubeadm.KubeletUnit{ExecStart: unit.ExecStart, Environment: unit.Environment}
	for _, file := range unit.EnvironmentFiles {
		if text, err := os.ReadFile(s.path(file)); err == nil {
			// Missing files are optional, or the kubelet would not run.
			started.EnvironmentFiles = append(started.EnvironmentFiles, text)
		}
	}
	args, err := kubeadm.KubeletArgs(started)
	if err != nil {
		return nil, err
	}
	flags := flagsOf(args)
	facts := &refitv1alpha1.KubeletFacts{FeatureGates: map[string]bool{}}
	for name := range flags {
		facts.Flags = append(facts.Flags, name)
	}
	slices.Sort(facts.Flags)
	facts.ConfigFile = s.configFile(kubeadm.KubeletConfigFile(args))
	file := cmp.Or(facts.ConfigFile, kubeletConfig)
	if err := s.readKubeletConfig(file, flags["config-dir"], facts); err != nil {
		return nil, err
	}
	for pair := range strings.SplitSeq(flags["feature-gates"], ",") { // flags override files
		if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok {
			facts.FeatureGates[name], _ = strconv.ParseBool(value)
		}
	}
	return facts, nil
}

// configFile returns the path that kubeadm writes if another one leads to the same file.
func (s *Sources) configFile(file string) string {
	if file == "" {
		return ""
	}
	named, err := os.Stat(s.path(file))
	written, missing := os.Stat(s.path(kubeletConfig))
	if err == nil && missing == nil && os.SameFile(named, written) {
		return kubeletConfig
	}
	return file
}

// flagsOf returns the values by name; a flag without a value may use the next argument.
func flagsOf(args []string) map[string]string {
	flags := map[string]string{}
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !has && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		if name != "" {
			flags[name] = value
		}
	}
	return flags
}

// readKubeletConfig reads the configuration and its drop-ins in the kubelet's order.
func (s *Sources) readKubeletConfig(file, more string, into *refitv1alpha1.KubeletFacts) error {
	files := []string{s.path(file)}
	if more != "" {
		found, err := filepath.Glob(filepath.Join(s.path(more), "*.conf"))
		if err != nil {
			return fmt.Errorf("cannot list the kubelet's configuration: %w", err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("cannot read the kubelet's configuration: %w", err)
		}
		var document map[string]any
		if err := yaml.Unmarshal(text, &document); err != nil {
			// The parser's error may contain secrets.
			return fmt.Errorf("cannot parse the kubelet's configuration: %s is not YAML", file)
		}
		delete(document, "apiVersion")
		delete(document, "kind")
		into.ConfigFields = append(into.ConfigFields, fieldsOf("", document)...)
		if gates, ok := document["featureGates"].(map[string]any); ok {
			for name, value := range gates {
				into.FeatureGates[name], _ = value.(bool)
			}
		}
		if fails, ok := document["failCgroupV1"].(bool); ok {
			into.FailCgroupV1 = &fails
		}
	}
	slices.Sort(into.ConfigFields)
	into.ConfigFields = slices.Compact(into.ConfigFields)
	return nil
}

// fieldsOf lists the JSON paths that are set, in the notation of kubefacts: a.b, c[].d.
func fieldsOf(path string, value any) []string {
	var below []string
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if path != "" {
				name = path + "." + name
			}
			below = append(below, fieldsOf(name, v)...)
		}
	case []any:
		for _, element := range value {
			below = append(below, fieldsOf(path+"[]", element)...)
		}
	}
	if len(below) == 0 && path != "" {
		return []string{path}
	}
	return below
}

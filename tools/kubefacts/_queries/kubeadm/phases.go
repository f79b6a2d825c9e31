package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"

	"k8s.io/kubernetes/cmd/kubeadm/app/cmd/phases/upgrade"
	"k8s.io/kubernetes/cmd/kubeadm/app/cmd/phases/upgrade/apply"
	"k8s.io/kubernetes/cmd/kubeadm/app/cmd/phases/upgrade/node"
	"k8s.io/kubernetes/cmd/kubeadm/app/cmd/phases/workflow"
)

type phase struct {
	Name   string `json:"name"`
	Hidden bool   `json:"hidden,omitempty"`
}

const phasesPath = "k8s.io/kubernetes/cmd/kubeadm/app/cmd/phases/"

// constructors are the phases that this command can create. Which of them a command has, and in
// which order, is read from its source; a missing one is an error.
var constructors = map[string]func() workflow.Phase{
	phasesPath + "upgrade.NewAddonPhase":                upgrade.NewAddonPhase,
	phasesPath + "upgrade.NewKubeletConfigPhase":        upgrade.NewKubeletConfigPhase,
	phasesPath + "upgrade.NewPostUpgradePhase":          upgrade.NewPostUpgradePhase,
	phasesPath + "upgrade/apply.NewBootstrapTokenPhase": apply.NewBootstrapTokenPhase,
	phasesPath + "upgrade/apply.NewControlPlanePhase":   apply.NewControlPlanePhase,
	phasesPath + "upgrade/apply.NewKubeconfigPhase":     apply.NewKubeconfigPhase,
	phasesPath + "upgrade/apply.NewPreflightPhase":      apply.NewPreflightPhase,
	phasesPath + "upgrade/apply.NewUploadConfigPhase":   apply.NewUploadConfigPhase,
	phasesPath + "upgrade/node.NewControlPlane":         node.NewControlPlane,
	phasesPath + "upgrade/node.NewKubeconfigPhase":      node.NewKubeconfigPhase,
	phasesPath + "upgrade/node.NewPreflightPhase":       node.NewPreflightPhase,
}

// phases lists the phases of `kubeadm upgrade <command>`. The command does not show hidden ones, so
// the source is parsed for the calls that add them.
func phases(source, command string) ([]phase, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(source, "cmd/kubeadm/app/cmd/upgrade", command+".go"), nil, 0)
	if err != nil {
		return nil, err
	}
	var list []phase
	for _, name := range appended(file) {
		construct, known := constructors[name]
		if !known {
			return nil, fmt.Errorf("kubeadm upgrade %s has an unknown phase: add %s to constructors", command, name)
		}
		list = append(list, flatten("", construct())...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("kubeadm upgrade %s has no phases: the source has changed", command)
	}
	return list, nil
}

// appended lists the functions whose results a file passes to AppendPhase, in order.
func appended(file *ast.File) []string {
	packages := map[string]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err == nil && spec.Name != nil {
			packages[spec.Name.Name] = path
		} else if err == nil {
			packages[path[strings.LastIndex(path, "/")+1:]] = path
		}
	}
	var functions []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		if method, ok := call.Fun.(*ast.SelectorExpr); !ok || method.Sel.Name != "AppendPhase" {
			return true
		}
		functions = append(functions, function(call.Args[0], packages))
		return true
	})
	return functions
}

// function returns the qualified name of the function that an expression calls.
func function(expression ast.Expr, packages map[string]string) string {
	if call, ok := expression.(*ast.CallExpr); ok {
		if called, ok := call.Fun.(*ast.SelectorExpr); ok {
			if from, ok := called.X.(*ast.Ident); ok {
				return packages[from.Name] + "." + called.Sel.Name
			}
		}
	}
	return "an unsupported expression"
}

// flatten lists a phase and those below it. A phase that runs its siblings is only another name for
// them.
func flatten(prefix string, p workflow.Phase) []phase {
	if p.RunAllSiblings {
		return nil
	}
	name := prefix + strings.ToLower(p.Name)
	list := []phase{{Name: name, Hidden: p.Hidden}}
	for _, sub := range p.Phases {
		list = append(list, flatten(name+"/", sub)...)
	}
	return list
}

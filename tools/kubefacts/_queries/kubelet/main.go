// Command kubelet prints facts about the kubelet.
package main

import (
	"reflect"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	configv1beta1 "k8s.io/kubelet/config/v1beta1"
	_ "k8s.io/kubernetes/cmd/kubelet/app" // registers the feature gates
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"refit.testbed/query/result"
)

type kubelet struct {
	result.Component
	Config []string `json:"config"`
}

func main() {
	flags, err := flagSet()
	if err != nil {
		result.Fail(err)
	}
	result.Print(kubelet{
		Component: result.Component{Flags: result.Flags(flags), Gates: result.Gates()},
		Config:    result.Fields(reflect.TypeFor[configv1beta1.KubeletConfiguration]()),
	})
}

// flagSet creates the flags like app.NewKubeletCommand, which does not expose them.
func flagSet() (*pflag.FlagSet, error) {
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	options.NewKubeletFlags().AddFlags(flags)
	options.AddKubeletConfigFlags(flags, config)
	options.AddGlobalFlags(flags)
	flags.BoolP("help", "h", false, "")
	return flags, nil
}

package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestRequestOf(t *testing.T) {
	requested := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	plain := func(cpu, memory string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requested(cpu, memory)}}
	}
	always := corev1.ContainerRestartPolicyAlways
	sidecar := func(cpu, memory string) corev1.Container {
		c := plain(cpu, memory)
		c.RestartPolicy = &always
		return c
	}
	main := []corev1.Container{plain("100m", "64Mi"), plain("50m", "64Mi")}
	for name, test := range map[string]struct {
		spec corev1.PodSpec
		want cluster.Resources
	}{
		"nothing":             {corev1.PodSpec{Containers: []corev1.Container{{}}}, cluster.Resources{}},
		"all containers":      {corev1.PodSpec{Containers: main}, cluster.Resources{MilliCPU: 150, Memory: 128 << 20}},
		"a small init":        {corev1.PodSpec{Containers: main, InitContainers: []corev1.Container{plain("10m", "1Mi")}}, cluster.Resources{MilliCPU: 150, Memory: 128 << 20}},
		"a large init":        {corev1.PodSpec{Containers: main, InitContainers: []corev1.Container{plain("1", "1Mi"), plain("10m", "1Gi")}}, cluster.Resources{MilliCPU: 1000, Memory: 1 << 30}},
		"a sidecar":           {corev1.PodSpec{Containers: main, InitContainers: []corev1.Container{sidecar("50m", "64Mi")}}, cluster.Resources{MilliCPU: 200, Memory: 192 << 20}},
		"an init after it":    {corev1.PodSpec{Containers: main, InitContainers: []corev1.Container{sidecar("50m", "64Mi"), plain("1", "1Mi")}}, cluster.Resources{MilliCPU: 1050, Memory: 192 << 20}},
		"an init before it":   {corev1.PodSpec{Containers: main, InitContainers: []corev1.Container{plain("1", "1Mi"), sidecar("50m", "64Mi")}}, cluster.Resources{MilliCPU: 1000, Memory: 192 << 20}},
		"overhead":            {corev1.PodSpec{Containers: main, Overhead: requested("10m", "1Mi")}, cluster.Resources{MilliCPU: 160, Memory: 129 << 20}},
		"the pod as a whole":  {corev1.PodSpec{Containers: main, Resources: &corev1.ResourceRequirements{Requests: requested("2", "1Gi")}}, cluster.Resources{MilliCPU: 2000, Memory: 1 << 30}},
		"the whole, CPU only": {corev1.PodSpec{Containers: main, Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}, cluster.Resources{MilliCPU: 2000, Memory: 128 << 20}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := requestOf(&test.spec); got != test.want {
				t.Errorf("it requests %+v, want %+v", got, test.want)
			}
		})
	}
}

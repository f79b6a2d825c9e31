package observe

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// requestOf returns what the scheduler reserves for a pod: the sum of its containers, or more if an
// init container needs it. A sidecar, an init container that keeps running, counts from its start,
// also while later ones start.
func requestOf(spec *corev1.PodSpec) cluster.Resources {
	var running, starting cluster.Resources
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		requested := cpuAndMemory(c.Resources.Requests)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			running = sum(running, requested)
			starting = largest(starting, running)
			continue
		}
		starting = largest(starting, sum(running, requested))
	}
	for i := range spec.Containers {
		running = sum(running, cpuAndMemory(spec.Containers[i].Resources.Requests))
	}
	total := largest(running, starting)
	if spec.Resources != nil { // pod-level requests replace those of the containers
		whole := spec.Resources.Requests
		if _, set := whole[corev1.ResourceCPU]; set {
			total.MilliCPU = whole.Cpu().MilliValue()
		}
		if _, set := whole[corev1.ResourceMemory]; set {
			total.Memory = whole.Memory().Value()
		}
	}
	return sum(total, cpuAndMemory(spec.Overhead))
}

func cpuAndMemory(list corev1.ResourceList) cluster.Resources {
	return cluster.Resources{MilliCPU: list.Cpu().MilliValue(), Memory: list.Memory().Value()}
}

func sum(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{MilliCPU: a.MilliCPU + b.MilliCPU, Memory: a.Memory + b.Memory}
}

func largest(a, b cluster.Resources) cluster.Resources {
	return cluster.Resources{MilliCPU: max(a.MilliCPU, b.MilliCPU), Memory: max(a.Memory, b.Memory)}
}

package observe

import (
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// newFold is a fold of a cluster with one control plane node and one worker.
func newFold(budgets ...policyv1.PodDisruptionBudget) *fold {
	obs := newObservation(&Reader{}, "", &meter{})
	obs.snapshot.Nodes = []cluster.Node{{Name: "cp-1", ControlPlane: true}, {Name: "worker-1"}}
	for i := range obs.snapshot.Nodes {
		obs.nodes[obs.snapshot.Nodes[i].Name] = &obs.snapshot.Nodes[i]
	}
	for i := range budgets {
		obs.addBudget(&budgets[i])
	}
	return &fold{obs: obs, places: map[entry]int{}}
}

// aPod is a ready pod of the Deployment shop/web on worker-1.
func aPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-5d8f-x", Labels: map[string]string{"app": "web", "pod-template-hash": "5d8f"}},
		Spec:       corev1.PodSpec{NodeName: "worker-1", Containers: []corev1.Container{{Image: "web:v1"}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
	owned("ReplicaSet", "web-5d8f")(p)
	for _, change := range changes {
		change(p)
	}
	return p
}

func owned(kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: name, Controller: &yes}}
	}
}

func annotated(name, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{name: value} }
}

func with(volume corev1.VolumeSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{VolumeSource: volume}) }
}

func claim(name string) corev1.VolumeSource {
	return corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}
}

func TestOwnerOf(t *testing.T) {
	static := func(p *corev1.Pod) {
		annotated(corev1.MirrorPodAnnotationKey, "hash")(p)
		owned("Node", "worker-1")(p)
		p.Name = "haproxy-worker-1"
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   owner
	}{
		"a ReplicaSet of a Deployment":      {func(*corev1.Pod) {}, owner{"shop", "Deployment", "web"}},
		"a ReplicaSet without an owner":     {owned("ReplicaSet", "web-by-hand"), owner{"shop", "ReplicaSet", "web-by-hand"}},
		"a ReplicaSet without the label":    {func(p *corev1.Pod) { p.Labels = nil }, owner{"shop", "ReplicaSet", "web-5d8f"}},
		"a StatefulSet":                     {owned("StatefulSet", "db"), owner{"shop", "StatefulSet", "db"}},
		"another kind of owner":             {owned("CloneSet", "clones"), owner{"shop", "CloneSet", "clones"}},
		"no owner":                          {func(p *corev1.Pod) { p.OwnerReferences = nil }, owner{"shop", "Pod", "web-5d8f-x"}},
		"an owner that does not control it": {func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }, owner{"shop", "Pod", "web-5d8f-x"}},
		"a static pod":                      {static, owner{"shop", "Node", "haproxy"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ownerOf(aPod(test.change)); got != test.want {
				t.Errorf("it belongs to %v, want %v", got, test.want)
			}
		})
	}
}

func TestFoldCounts(t *testing.T) {
	f := newFold()
	for _, p := range []*corev1.Pod{
		aPod(),
		aPod(func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }),
		aPod(func(p *corev1.Pod) { p.Spec.NodeName = "" }),
		aPod(func(p *corev1.Pod) { p.Spec.NodeName = "made-a-moment-ago" }),
		aPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} }),
		aPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(-time.Hour)} }),
		aPod(func(p *corev1.Pod) { p.Status.Phase, p.Status.Conditions = corev1.PodPending, nil }),
		aPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		aPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		aPod(owned("StatefulSet", "db")),
	} {
		f.add(p)
	}
	if f.seen != 10 || len(f.obs.snapshot.Workloads) != 2 {
		t.Fatalf("%d pods, workloads %+v", f.seen, f.obs.snapshot.Workloads)
	}
	if web := f.obs.snapshot.Workloads[0]; web.Pods != 7 || web.Ready != 5 || web.Terminating != 2 {
		t.Errorf("web is %+v", web)
	}
	want := []cluster.PodSet{{Workload: 0, Count: 5, Free: 3, Unready: 1}, {Workload: 1, Count: 1}}
	if got := f.obs.nodes["worker-1"].Pods; !reflect.DeepEqual(got, want) {
		t.Errorf("worker-1 has %+v", got)
	}
}

func TestFoldMatchesBudgets(t *testing.T) {
	budget := func(namespace, name string, selector *metav1.LabelSelector) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector}}
	}
	f := newFold(
		budget("shop", "by-label", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}),
		budget("shop", "all", &metav1.LabelSelector{}),
		budget("shop", "none", nil),
		budget("shop", "another", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}),
		budget("shop", "broken", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Near"}}}),
		budget("elsewhere", "by-label", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}),
	)
	f.add(aPod())
	f.add(aPod())
	f.add(aPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }))
	if got, want := f.obs.snapshot.Workloads[0].Budgets, []string{"by-label", "all"}; !reflect.DeepEqual(got, want) {
		t.Errorf("it is covered by %v, want %v", got, want)
	}
	matched := map[string]int32{}
	for _, b := range f.obs.snapshot.Budgets {
		matched[b.Key()] = b.Matched
		if b.SelectsAll != (b.Name == "all") {
			t.Errorf("%s selects all: %t", b.Key(), b.SelectsAll)
		}
	}
	if want := map[string]int32{"shop/by-label": 2, "shop/all": 2, "shop/none": 0, "shop/another": 0, "shop/broken": 0, "elsewhere/by-label": 0}; !reflect.DeepEqual(matched, want) {
		t.Errorf("the budgets match %v", matched)
	}
	if gaps := f.obs.snapshot.Gaps; len(gaps) != 1 || gaps[0].Object != "PodDisruptionBudget shop/broken" {
		t.Errorf("the gaps are %+v", gaps)
	}
}

func TestPodsOfOneOwnerWithDifferentBudgetsAreDifferentEntries(t *testing.T) {
	budget := func(role string) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: role},
			Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"role": role}}},
		}
	}
	f := newFold(budget("primary"), budget("replica"))
	for _, role := range []string{"primary", "replica", "replica"} {
		f.add(aPod(owned("Cluster", "db"), func(p *corev1.Pod) { p.Labels = map[string]string{"role": role} }))
	}
	want := []cluster.Workload{
		{Namespace: "shop", Kind: "Cluster", Name: "db", Pods: 1, Ready: 1, Budgets: []string{"primary"}},
		{Namespace: "shop", Kind: "Cluster", Name: "db", Pods: 2, Ready: 2, Budgets: []string{"replica"}},
	}
	if got := f.obs.snapshot.Workloads; !reflect.DeepEqual(got, want) {
		t.Errorf("they are %+v", got)
	}
	if got := f.obs.snapshot.Owners(); got[0] != got[1] || got[0].Pods != 3 || got[0].First != 0 {
		t.Errorf("their owners are %+v and %+v", got[0], got[1])
	}
}

func TestPodIsStuckOnlyAfterItsGracePeriod(t *testing.T) {
	for name, test := range map[string]struct {
		ends time.Duration // from now
		want int32
	}{
		"an hour left":           {time.Hour, 0},
		"grace period just over": {0, 0},
		"grace period long over": {-time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFold()
			f.add(aPod(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(test.ends)} }))
			if w := f.obs.snapshot.Workloads[0]; w.Stuck != test.want || w.Terminating != 1 {
				t.Errorf("stuck: %d, terminating: %d", w.Stuck, w.Terminating)
			}
		})
	}
}

func TestFoldDescribes(t *testing.T) {
	priority, grace := int32(1000), int64(90)
	toHost := func(key string, values ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			term := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}}}
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
			}}
		}
	}
	tolerates := func(all ...corev1.Toleration) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			seconds := int64(300) // as admission adds it to every pod
			p.Spec.Tolerations = append(slices.Clone(all), corev1.Toleration{
				Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
			})
		}
	}
	gpu := corev1.Toleration{Key: "gpu", Value: "a100", Effect: corev1.TaintEffectNoSchedule}
	every := corev1.Toleration{Operator: corev1.TolerationOpExists}
	larger := corev1.Toleration{Key: "cpu", Operator: "Gt", Value: "4"}
	for name, test := range map[string]struct {
		pods []*corev1.Pod
		want cluster.Workload // except for the owner and the number of pods
	}{
		"tolerations that it keeps": {[]*corev1.Pod{aPod(tolerates(gpu, every, larger))}, cluster.Workload{
			Tolerations: []cluster.Toleration{{Key: "gpu", Value: "a100", Effect: "NoSchedule"}, {Exists: true}},
		}},
		"tolerations during a rollout": {[]*corev1.Pod{aPod(tolerates(gpu, every)), aPod(tolerates(gpu))}, cluster.Workload{
			Tolerations: []cluster.Toleration{{Key: "gpu", Value: "a100", Effect: "NoSchedule"}},
		}},
		"tolerations of a DaemonSet":          {[]*corev1.Pod{aPod(tolerates(every), owned("DaemonSet", "logs"))}, cluster.Workload{}},
		"nothing special":                     {[]*corev1.Pod{aPod()}, cluster.Workload{}},
		"an emptyDir":                         {[]*corev1.Pod{aPod(with(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}))}, cluster.Workload{LocalData: true}},
		"an emptyDir in memory":               {[]*corev1.Pod{aPod(with(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}))}, cluster.Workload{}},
		"a hostPath, which any node has":      {[]*corev1.Pod{aPod(with(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}))}, cluster.Workload{}},
		"a claim to a disk of one node":       {[]*corev1.Pod{aPod(with(claim("local")))}, cluster.Workload{LocalVolume: true}},
		"a claim to a disk anywhere":          {[]*corev1.Pod{aPod(with(claim("remote")))}, cluster.Workload{}},
		"a volume that a release removes":     {[]*corev1.Pod{aPod(with(corev1.VolumeSource{GitRepo: &corev1.GitRepoVolumeSource{}}))}, cluster.Workload{VolumeKinds: []string{"gitRepo"}}},
		"the node by its label":               {[]*corev1.Pod{aPod(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "worker-1"} })}, cluster.Workload{NodeBound: true}},
		"the node by its name":                {[]*corev1.Pod{aPod(toHost("metadata.name", "worker-1"))}, cluster.Workload{NodeBound: true}},
		"one of two nodes":                    {[]*corev1.Pod{aPod(toHost("metadata.name", "worker-1", "worker-2"))}, cluster.Workload{}},
		"a zone":                              {[]*corev1.Pod{aPod(toHost(corev1.LabelTopologyZone, "a"))}, cluster.Workload{}},
		"one forbids the autoscaler to evict": {[]*corev1.Pod{aPod(annotated(annotationSafeToEvict, "false")), aPod(annotated(annotationSafeToEvict, "true"))}, cluster.Workload{SafeToEvict: cluster.No}},
		"one allows the autoscaler to evict":  {[]*corev1.Pod{aPod(), aPod(annotated(annotationSafeToEvict, "true"))}, cluster.Workload{SafeToEvict: cluster.Yes}},
		"finalizers, except that of a Job":    {[]*corev1.Pod{aPod(func(p *corev1.Pod) { p.Finalizers = []string{finalizerJob, "example.com/hold"} })}, cluster.Workload{Finalizers: []string{"example.com/hold"}}},
		"the longest grace, highest priority": {[]*corev1.Pod{aPod(func(p *corev1.Pod) { p.Spec.Priority, p.Spec.TerminationGracePeriodSeconds = &priority, &grace }), aPod()}, cluster.Workload{Priority: 1000, GraceSeconds: 90}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFold()
			f.obs.local["shop/local"] = true
			for _, p := range test.pods {
				f.add(p)
			}
			got := f.obs.snapshot.Workloads[0]
			test.want.Namespace, test.want.Kind, test.want.Name, test.want.Pods, test.want.Ready = got.Namespace, got.Kind, got.Name, got.Pods, got.Ready
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("it is %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestDaemonSetPodsAreNotNodeBound(t *testing.T) {
	f := newFold()
	f.add(aPod(owned("DaemonSet", "logs"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: "worker-1"} }))
	if f.obs.snapshot.Workloads[0].NodeBound {
		t.Error("the workload is node-bound")
	}
}

func TestSystemPods(t *testing.T) {
	mirror := func(node string) *corev1.Pod {
		return aPod(annotated(corev1.MirrorPodAnnotationKey, "hash"), func(p *corev1.Pod) {
			p.Namespace, p.Name, p.Spec.NodeName = kubeSystem, "kube-apiserver-"+node, node
			p.Labels = map[string]string{"component": "kube-apiserver", "tier": "control-plane"}
			p.Annotations[annotationAdvertised] = "10.0.0.1:6444"
			p.Spec.Containers = []corev1.Container{
				{Name: "logs", Image: "logs:v1"},
				{Name: "kube-apiserver", Image: "registry.k8s.io/kube-apiserver:v1.35.4", Command: []string{"kube-apiserver", "--secure-port=6444"}},
			}
		})
	}
	f := newFold()
	for _, p := range []*corev1.Pod{
		mirror("cp-1"), mirror("worker-1"),
		aPod(func(p *corev1.Pod) {
			p.Namespace, p.Labels = kubeSystem, map[string]string{"k8s-app": "kube-proxy"}
			p.Spec.Containers[0].Image = "registry.example.com:5000/kube-proxy:v1.35.3@sha256:0123"
		}),
	} {
		f.add(p)
	}
	want := map[string]cluster.StaticPod{"kube-apiserver": {
		Image: "registry.k8s.io/kube-apiserver:v1.35.4", Version: "v1.35.4", Ready: true, Flags: map[string]string{"secure-port": "6444"},
	}}
	if got := f.obs.nodes["cp-1"].Static; !reflect.DeepEqual(got, want) {
		t.Errorf("cp-1 has %+v", got)
	}
	if got := f.obs.nodes["worker-1"]; got.Static != nil || got.KubeProxy != "v1.35.3" {
		t.Errorf("a worker with a mirror pod of an API server has %+v and kube-proxy %s", got.Static, got.KubeProxy)
	}
	if want := map[string]serverPod{"cp-1": {"kube-apiserver-cp-1", "10.0.0.1:6444"}}; !reflect.DeepEqual(f.obs.servers, want) {
		t.Errorf("the API servers are %+v", f.obs.servers)
	}
}

func TestVersionOf(t *testing.T) {
	for image, want := range map[string]string{
		"registry.k8s.io/kube-proxy:v1.35.4":               "v1.35.4",
		"registry.example.com:5000/kube-proxy:v1.35.4":     "v1.35.4",
		"registry.example.com:5000/kube-proxy":             "",
		"registry.k8s.io/kube-proxy:v1.35.4@sha256:012345": "v1.35.4",
		"registry.k8s.io/kube-proxy@sha256:012345":         "",
		"kube-proxy": "",
	} {
		if got := versionOf(image); got != want {
			t.Errorf("the version of %s is %q, want %q", image, got, want)
		}
	}
}

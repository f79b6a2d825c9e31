import { chromium } from "@playwright/test";
import { createServer } from "node:http";
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
//#region tests/chromium.ts
const chromium$1 = {
	executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
	args: [
		"--no-sandbox",
		"--disable-gpu",
		"--disable-quic",
		"--no-first-run",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-sync"
	]
};
//#endregion
//#region tests/documents/time.ts
/** The time so many seconds ago. */
function ago(seconds) {
	return (/* @__PURE__ */ new Date(Date.now() - seconds * 1e3)).toISOString();
}
//#endregion
//#region tests/server/replay.ts
const root = fileURLToPath(new URL("../..", import.meta.url));
const policy = readFileSync(join(root, "content-security-policy.txt"), "utf8").trim();
const mediaTypes = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript",
	".css": "text/css",
	".svg": "image/svg+xml",
	".woff2": "font/woff2"
};
function me(operator) {
	return {
		user: "jane@example.org",
		method: "session",
		permissions: [
			"PauseOperation",
			"ResumeOperation",
			"RetryOperation",
			"AbortOperation"
		].map((operation) => ({
			operation,
			allowed: operator,
			...!operator && { missing: "patch clusterupgrades.refit.dev" }
		}))
	};
}
/** Serves the built pages with the policy of the product, and replays documents as the HTTP API. */
var Replay = class {
	scene;
	/** A one-time code that is still valid. */
	code = "";
	signedIn = true;
	/** A frozen server accepts connections and requests, and answers none. */
	frozen = false;
	requests = [];
	lastEventIDs = [];
	#server;
	#streams = /* @__PURE__ */ new Set();
	#revision = 0;
	#heartbeats;
	constructor(scene) {
		this.scene = scene;
		this.#server = createServer((request, response) => this.#answer(request, response));
	}
	async start() {
		await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		this.#heartbeats = setInterval(() => this.beat(), 1e3);
		return `http://127.0.0.1:${this.#server.address().port}`;
	}
	async stop() {
		clearInterval(this.#heartbeats);
		this.#server.closeAllConnections();
		await new Promise((resolve) => this.#server.close(resolve));
	}
	/** Breaks all event streams. */
	disconnect() {
		this.#streams.forEach((stream) => stream.destroy());
		this.#streams.clear();
	}
	send(type, data) {
		this.#revision++;
		if (this.frozen) return;
		for (const stream of this.#streams) stream.write(`id: boot.${this.#revision}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
	}
	beat() {
		const { source, observedAt, apiServer } = this.scene.state;
		this.send("heartbeat", {
			now: ago(0),
			source,
			observedAt: source === "api" ? ago(0) : observedAt,
			apiReachable: apiServer.reachable
		});
	}
	setState(state) {
		this.scene.state = state;
		this.send("state", state);
		this.beat();
	}
	#answer(request, response) {
		const url = new URL(request.url ?? "/", "http://replay");
		this.requests.push(`${request.method} ${url.pathname}${url.search}`);
		if (this.frozen) return;
		response.setHeader("Content-Security-Policy", policy);
		if (!url.pathname.startsWith("/api/")) return this.#file(url.pathname, response);
		const path = url.pathname.slice(14).split("/").map(decodeURIComponent);
		if (path[0] === "session") return void this.#session(request, response);
		if (!this.signedIn) return this.#problem(response, 401, "unauthenticated", "There is no session.");
		if (path[0] === "events") return this.#events(request, response);
		this.#document(request.method ?? "GET", path, url, response);
	}
	#document(method, [kind, name, part], url, response) {
		const { state, history, explanations, operator } = this.scene;
		const observed = {
			source: state.source,
			observedAt: state.observedAt
		};
		if (method === "POST" && part) return this.#verb(part, name ?? "", response);
		if (kind === "me") return this.#json(response, me(operator));
		if (kind === "state") return this.#json(response, state);
		if (kind === "operations" && part === "nodes") return this.#json(response, {
			...observed,
			operation: name,
			...this.#page(url)
		});
		if (kind === "operations" && name === void 0) return this.#json(response, {
			...observed,
			cluster: state.cluster,
			operations: history
		});
		if (kind === "operations" && name === state.operation?.name) return this.#json(response, {
			...observed,
			operation: state.operation
		});
		const explanation = explanations.find(({ node }) => node === name);
		if (kind === "nodes" && explanation) return this.#json(response, {
			...observed,
			explanation
		});
		this.#problem(response, 404, "not-found", `There is no ${kind} ${name}.`);
	}
	#verb(verb, name, response) {
		const { operation, apiServer } = this.scene.state;
		if (!apiServer.reachable) return this.#problem(response, 503, "api-unreachable", "The API server is unreachable.");
		if (operation && verb === "pause") this.setState({
			...this.scene.state,
			operation: {
				...operation,
				paused: true,
				phase: "Paused",
				message: "Paused"
			}
		});
		this.#json(response, {
			kind: "Change",
			verb,
			operation: name,
			changed: true,
			message: `${verb} ${name}: accepted.`
		});
	}
	#page(url) {
		const states = url.searchParams.getAll("state");
		const text = url.searchParams.get("q") ?? "";
		const after = Number(url.searchParams.get("continue") ?? 0);
		const limit = Number(url.searchParams.get("limit") ?? 200);
		const found = this.scene.rows.filter((row) => (states.length === 0 || states.includes(row.state)) && row.node.includes(text));
		const next = after + limit < found.length ? { continue: String(after + limit) } : {};
		return {
			total: found.length,
			nodes: found.slice(after, after + limit),
			...next
		};
	}
	#events(request, response) {
		const last = request.headers["last-event-id"];
		if (last !== void 0) this.lastEventIDs.push(String(last));
		response.writeHead(200, {
			"Content-Type": "text/event-stream",
			"Cache-Control": "no-store"
		});
		this.#streams.add(response);
		response.on("close", () => this.#streams.delete(response));
		response.write("retry: 200\n");
		this.send("hello", {
			boot: "boot",
			revision: this.#revision,
			resumed: last !== void 0,
			heartbeatSeconds: 1
		});
		if (last === void 0) this.send("state", this.scene.state);
		this.beat();
	}
	async #session(request, response) {
		if (request.method === "DELETE") {
			this.signedIn = false;
			return response.writeHead(204).end();
		}
		let body = "";
		for await (const chunk of request) body += String(chunk);
		const credential = JSON.parse(body);
		if (!(credential.code !== void 0 ? credential.code !== "" && credential.code === this.code : credential.token === "valid")) return this.#problem(response, 401, "invalid-credential", "The server does not accept the credential.");
		this.code = "";
		this.signedIn = true;
		response.statusCode = 201;
		this.#json(response, me(this.scene.operator));
	}
	#file(path, response) {
		const file = join(root, "dist", path);
		const found = extname(path) !== "" && existsSync(file) ? file : join(root, "dist/index.html");
		response.setHeader("Content-Type", mediaTypes[extname(found)] ?? "application/octet-stream");
		response.end(readFileSync(found));
	}
	#json(response, body) {
		response.setHeader("Content-Type", "application/json");
		response.end(JSON.stringify(body));
	}
	#problem(response, status, code, detail) {
		response.writeHead(status, { "Content-Type": "application/problem+json" });
		response.end(JSON.stringify({
			type: "about:blank",
			title: code,
			status,
			code,
			detail,
			requestId: "r-1"
		}));
	}
};
//#endregion
//#region tests/documents/cluster.ts
const releases = [{
	name: "kubernetes-v1.36.3",
	kubernetes: "v1.36.3",
	createTime: "2026-11-10T09:00:00Z",
	operations: ["to-v1-36-3"],
	verifiedHosts: 5,
	rejectedHosts: 0,
	components: [{
		name: "cilium",
		version: "v1.19.1"
	}, {
		name: "metrics-server",
		version: "v0.9.0"
	}]
}, {
	name: "kubernetes-v1.35.4",
	kubernetes: "v1.35.4",
	createTime: "2026-08-02T09:00:00Z",
	verifiedHosts: 0,
	rejectedHosts: 0
}];
function stateOf(operation) {
	const total = operation?.nodes.total ?? 5;
	const done = operation?.nodes.done ?? 0;
	const versions = [{
		kubelet: "v1.36.3",
		nodes: done
	}, {
		kubelet: "v1.35.4",
		nodes: total - done
	}].filter(({ nodes }) => nodes > 0);
	return {
		cluster: "prod",
		source: "api",
		observedAt: ago(0),
		apiServer: {
			reachable: true,
			answeredAt: ago(0)
		},
		...operation && { operation },
		operations: 3,
		leader: "refit-controller-5c9d7b6f4-k2x8v",
		releases,
		nodes: {
			total,
			controlPlane: 3,
			ready: total,
			agents: total,
			versions
		},
		unread: []
	};
}
function history(current) {
	const past = [{
		name: "to-v1-35-4",
		phase: "Succeeded",
		ended: true,
		from: "v1.34.4",
		to: "v1.35.4",
		scope: "All",
		startTime: "2026-08-03T22:00:00Z",
		completionTime: "2026-08-03T22:41:12Z",
		nodes: {
			total: 5,
			done: 5,
			failed: 0,
			skipped: 0
		}
	}, {
		name: "workers-to-v1-34-4",
		phase: "Aborted",
		ended: true,
		from: "v1.33.9",
		to: "v1.34.4",
		scope: "Workers",
		startTime: "2026-04-18T21:00:00Z",
		completionTime: "2026-04-18T21:20:00Z",
		nodes: {
			total: 2,
			done: 1,
			failed: 1,
			skipped: 0
		},
		failed: ["worker-2"]
	}];
	if (!current) return past;
	const { name, phase, ended, from, to, scope, startTime, completionTime, nodes, message } = current;
	return [{
		name,
		phase,
		ended,
		to,
		scope,
		startTime,
		nodes,
		...from && { from },
		...completionTime && { completionTime },
		...message && { message }
	}, ...past];
}
/** The API server is unreachable because the agent of cp-2 swaps it. */
function expectedOutage(state) {
	return {
		...state,
		source: "last-known",
		observedAt: ago(12),
		apiServer: {
			reachable: false,
			answeredAt: ago(13),
			unreachableSince: ago(12),
			error: "dial tcp 10.0.0.100:6443: connect: connection refused",
			outage: {
				expected: true,
				message: "cp-2 is at swap-apiserver for 0:12.",
				node: "cp-2",
				step: "swap-apiserver",
				until: ago(-150),
				source: "agent",
				observedAt: ago(1)
			}
		}
	};
}
function unexpectedOutage(state) {
	return {
		...state,
		source: "last-known",
		observedAt: ago(120),
		apiServer: {
			reachable: false,
			answeredAt: ago(121),
			unreachableSince: ago(120),
			error: "dial tcp 10.0.0.100:6443: i/o timeout",
			outage: {
				expected: false,
				message: "No step of the upgrade stops the API server.",
				source: "last-known",
				observedAt: ago(120),
				remedy: "Check the API server on a control plane node: `crictl ps --name kube-apiserver`"
			}
		}
	};
}
//#endregion
//#region tests/documents/operation.ts
const document = {
	apiVersion: "cli.refit.dev/v1alpha1",
	kind: "Operation"
};
const planHash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
/** An operation on 3+2 nodes whose first control plane node is done. */
function running() {
	return {
		...document,
		cluster: "prod",
		name: "to-v1-36-3",
		phase: "Running",
		ended: false,
		from: "v1.35.4",
		to: "v1.36.3",
		scope: "All",
		startTime: ago(360),
		message: "Upgrading cp-2 to v1.36.3: swap-etcd",
		since: ago(65),
		plan: planHash,
		approvedPlan: planHash,
		waiting: [{
			reason: "Waiting",
			message: "Upgrading cp-2 to v1.36.3: swap-etcd",
			since: ago(65)
		}],
		stages: [
			{
				name: "Prefetch",
				kubernetes: "v1.36.3",
				state: "Done",
				total: 5,
				done: 5
			},
			{
				name: "Backup",
				kubernetes: "v1.36.3",
				state: "Done",
				total: 1,
				done: 1
			},
			{
				name: "Rehearsal",
				kubernetes: "v1.36.3",
				state: "Done",
				total: 1,
				done: 1
			},
			{
				name: "ControlPlane",
				kubernetes: "v1.36.3",
				state: "InProgress",
				total: 3,
				done: 1
			},
			{
				name: "Workers",
				kubernetes: "v1.36.3",
				state: "Pending",
				total: 2,
				done: 0
			},
			{
				name: "Verify",
				state: "Pending",
				total: 0,
				done: 0
			}
		],
		nodes: {
			total: 5,
			done: 1,
			failed: 0,
			skipped: 0
		},
		active: [{
			node: "cp-2",
			activity: "Upgrade",
			step: "swap-etcd",
			since: ago(75),
			waits: "etcd member cp-3 does not respond"
		}],
		failures: [],
		leftSeconds: 420
	};
}
function workersInProgress() {
	const operation = running();
	operation.stages = operation.stages.map((stage) => stage.name === "ControlPlane" ? {
		...stage,
		state: "Done",
		done: 3
	} : stage.name === "Workers" ? {
		...stage,
		state: "InProgress"
	} : stage);
	operation.nodes = {
		total: 5,
		done: 3,
		failed: 0,
		skipped: 0
	};
	return operation;
}
/** A worker failed and was rolled back. */
function stalled() {
	const message = "worker-1 failed at swap-kubelet and was rolled back: the kubelet does not become healthy";
	return {
		...workersInProgress(),
		phase: "Stalled",
		reason: "NodeFailed",
		message,
		since: ago(60),
		remedy: "Check the log of the kubelet: `journalctl -u kubelet`",
		waiting: [{
			reason: "NodeFailed",
			node: "worker-1",
			message,
			since: ago(60),
			actionRequired: true
		}],
		nodes: {
			total: 5,
			done: 3,
			failed: 1,
			skipped: 0
		},
		leftSeconds: 0,
		active: [{
			node: "worker-1",
			activity: "Failed",
			step: "swap-kubelet",
			since: ago(60)
		}],
		failures: [{
			node: "worker-1",
			class: "ManualIntervention",
			step: "swap-kubelet",
			message: "the kubelet does not become healthy: unknown flag --container-runtime",
			remedy: "Remove the flag from /etc/default/kubelet. Then run `refit retry`"
		}]
	};
}
/** Two PodDisruptionBudgets block the drain of a worker. */
function drainBlocked() {
	const blocked = "PodDisruptionBudget shop/cart allows 0 more disruptions";
	const message = `Draining worker-1 takes longer than 1 min: shop/cart-7d9f-x2x: ${blocked}`;
	const remedy = "Make the pods evictable, or set the pool's drain.onBlocked to Skip, Fail or Delete";
	return {
		...workersInProgress(),
		phase: "Stalled",
		reason: "DrainBlocked",
		message,
		since: ago(65),
		remedy,
		waiting: [{
			reason: "DrainBlocked",
			node: "worker-1",
			message,
			remedy,
			since: ago(65),
			actionRequired: true
		}, {
			reason: "Waiting",
			message: "worker-2 waits until worker-1 is ready again",
			since: ago(40),
			moreNodes: 3
		}],
		active: [{
			node: "worker-1",
			activity: "Drain",
			since: ago(65),
			remaining: 2,
			blockers: [{
				pod: "shop/cart-7d9f-x2x",
				reason: blocked
			}, {
				pod: "shop/payment-postgresql-primary-0",
				reason: "PodDisruptionBudget shop/payment-postgresql-primary allows 0 more disruptions"
			}]
		}]
	};
}
function awaitingApproval() {
	const operation = running();
	return {
		...operation,
		phase: "AwaitingApproval",
		reason: "ApprovalRequired",
		message: `Waiting for approval of plan ${planHash}`,
		remedy: "Review the plan, then run `refit approve`",
		proposedPlan: planHash,
		active: [],
		stages: operation.stages.map((stage) => ({
			...stage,
			state: "Pending",
			done: 0
		})),
		nodes: {
			total: 5,
			done: 0,
			failed: 0,
			skipped: 0
		}
	};
}
function paused() {
	return {
		...workersInProgress(),
		phase: "Paused",
		paused: true,
		reason: "Paused",
		message: "Paused",
		waiting: []
	};
}
function succeeded() {
	const operation = running();
	return {
		...operation,
		phase: "Succeeded",
		ended: true,
		completionTime: ago(30),
		active: [],
		waiting: [],
		leftSeconds: 0,
		stages: operation.stages.map((stage) => ({
			...stage,
			state: "Done",
			done: stage.total
		})),
		nodes: {
			total: 5,
			done: 5,
			failed: 0,
			skipped: 0
		}
	};
}
/** 5,000 nodes, 40 of which are active. */
function large() {
	const active = Array.from({ length: 40 }, (_, i) => i % 3 === 0 ? {
		node: `worker-${1001 + i}`,
		activity: "Upgrade",
		step: "swap-kubelet",
		since: ago(i)
	} : {
		node: `worker-${1001 + i}`,
		activity: "Drain",
		remaining: i % 6,
		since: ago(65)
	});
	return {
		...workersInProgress(),
		message: "Draining worker-1001, worker-1002, worker-1003 and 37 more",
		waiting: [],
		stages: [
			{
				name: "Prefetch",
				kubernetes: "v1.36.3",
				state: "Done",
				total: 5e3,
				done: 5e3
			},
			{
				name: "ControlPlane",
				kubernetes: "v1.36.3",
				state: "Done",
				total: 3,
				done: 3
			},
			{
				name: "Workers",
				kubernetes: "v1.36.3",
				state: "InProgress",
				total: 4997,
				done: 1e3
			},
			{
				name: "Verify",
				state: "Pending",
				total: 0,
				done: 0
			}
		],
		nodes: {
			total: 5e3,
			done: 1003,
			failed: 0,
			skipped: 2
		},
		active,
		leftSeconds: 40200
	};
}
//#endregion
//#region tests/documents/nodes.ts
/** The rows of the nodes of an operation, so many. */
function rowsOf(operation, count = operation.nodes.total) {
	return [
		"cp-1",
		"cp-2",
		"cp-3",
		...Array.from({ length: Math.max(0, count - 3) }, (_, i) => `worker-${i + 1}`)
	].map((node, i) => {
		const active = operation.active.find((one) => one.node === node);
		const done = active === void 0 && i < operation.nodes.done;
		const failed = operation.failures.some((failure) => failure.node === node);
		return {
			node,
			controlPlane: i < 3,
			kubelet: done ? "v1.36.3" : "v1.35.4",
			ready: true,
			agent: "v0.2.0",
			state: failed ? "Failed" : active ? "Active" : done ? "Done" : "Waiting",
			message: failed ? "The node failed at swap-kubelet: the kubelet does not become healthy." : done ? "The node is done." : "The node has prefetched everything and waits for its turn.",
			...active && {
				activity: active.activity,
				cordon: "Refit"
			},
			...active?.step && { step: active.step },
			...active?.since && { since: active.since },
			...active?.remaining && { remaining: active.remaining },
			...active?.blockers && { blockers: active.blockers.length }
		};
	});
}
function explanation(node) {
	return {
		apiVersion: "cli.refit.dev/v1alpha1",
		kind: "Explanation",
		cluster: "prod",
		node,
		state: "Waiting",
		message: "The node waits for its turn. The upgrade is Running: Upgrading cp-2 to v1.36.3: swap-etcd.",
		host: {
			controlPlane: node.startsWith("cp-"),
			kubelet: "v1.35.4",
			ready: true,
			readySince: ago(259200),
			agent: "v0.2.0",
			reportedAt: ago(240)
		},
		operation: {
			name: "to-v1-36-3",
			phase: "Running",
			to: "v1.36.3"
		},
		order: {
			operation: "to-v1-36-3",
			permit: "Prefetch",
			release: "kubernetes-v1.36.3",
			answered: true,
			phase: "Prefetched"
		}
	};
}
function failedNode() {
	const names = [
		"fetch",
		"import-images",
		"check-host",
		"stage-files"
	];
	return {
		...explanation("worker-1"),
		state: "Failed",
		message: "The node failed at swap-kubelet: the kubelet does not become healthy.",
		remedy: "remove the flag --container-runtime from /etc/default/kubelet. Then run `refit retry`",
		host: {
			...explanation("worker-1").host,
			cordon: "Refit"
		},
		operation: {
			name: "to-v1-36-3",
			phase: stalled().phase,
			to: "v1.36.3"
		},
		order: {
			operation: "to-v1-36-3",
			permit: "Apply",
			release: "kubernetes-v1.36.3",
			answered: true,
			phase: "Failed",
			attempt: 1
		},
		drain: {
			phase: "Drained",
			startTime: ago(300),
			completionTime: ago(240)
		},
		steps: [...names.map((name, i) => ({
			name,
			state: "Done",
			startTime: ago(200 - 15 * i),
			completionTime: ago(185 - 15 * i)
		})), {
			name: "swap-kubelet",
			state: "Failed",
			startTime: ago(140),
			completionTime: ago(60)
		}],
		error: {
			class: "ManualIntervention",
			reason: "KubeletUnhealthy",
			step: "swap-kubelet",
			message: "the kubelet does not become healthy",
			remedy: "remove the flag --container-runtime from /etc/default/kubelet",
			at: ago(60),
			logTail: [
				"systemd[1]: Started kubelet.service - kubelet: The Kubernetes Node Agent.",
				"kubelet[812]: E1115 11:58:51 run.go:72] \"command failed\" err=\"failed to parse kubelet flag: unknown flag: --container-runtime\"",
				"systemd[1]: kubelet.service: Main process exited, code=exited, status=1/FAILURE",
				"systemd[1]: kubelet.service: Failed with result 'exit-code'."
			].join("\n")
		}
	};
}
function blockedNode() {
	const blockers = Array.from({ length: 3 }, (_, i) => ({
		pod: `shop/cart-7d9f5b8c6d-x2x${i}`,
		reason: "PodDisruptionBudget shop/cart allows 0 more disruptions"
	}));
	return {
		...explanation("worker-1"),
		state: "Active",
		message: "The node is being drained, and pods block the drain.",
		remedy: "Make the listed pods evictable: add replicas, change the disruption budget, or delete pods without a controller",
		host: {
			...explanation("worker-1").host,
			cordon: "Refit"
		},
		progress: {
			node: "worker-1",
			activity: "Drain",
			remaining: 3,
			since: ago(65),
			blockers
		},
		drain: {
			phase: "Blocked",
			remaining: 3,
			startTime: ago(65),
			blockers
		}
	};
}
function activeNode() {
	return {
		...explanation("cp-2"),
		state: "Active",
		message: "The agent upgrades the host: swap-apiserver.",
		progress: {
			node: "cp-2",
			activity: "Upgrade",
			step: "swap-apiserver",
			since: ago(12)
		},
		order: {
			operation: "to-v1-36-3",
			permit: "Apply",
			release: "kubernetes-v1.36.3",
			answered: true,
			phase: "Applying"
		},
		steps: [{
			name: "swap-etcd",
			state: "Done",
			startTime: ago(60),
			completionTime: ago(20)
		}, {
			name: "swap-apiserver",
			state: "Running",
			startTime: ago(12)
		}]
	};
}
//#endregion
//#region tests/pages/scenes.ts
function scene(operation, change = (state) => state) {
	const state = change(stateOf(operation));
	const blocked = operation?.reason === "DrainBlocked";
	return {
		state,
		history: history(operation),
		rows: operation ? rowsOf(operation) : [],
		explanations: [blocked ? blockedNode() : failedNode(), activeNode()],
		operator: true
	};
}
/** The situations in which pages are checked. */
const scenes = {
	idle: () => scene(void 0),
	running: () => scene(running()),
	stalled: () => scene(stalled()),
	drainBlocked: () => scene(drainBlocked()),
	awaitingApproval: () => scene(awaitingApproval()),
	paused: () => scene(paused()),
	succeeded: () => scene(succeeded()),
	large: () => scene(large()),
	outageExpected: () => scene(running(), expectedOutage),
	outageUnexpected: () => scene(running(), unexpectedOutage),
	viewer: () => ({
		...scene(running()),
		operator: false
	})
};
//#endregion
//#region tests/server/shoot.tmp.ts
const shots = [
	[
		"cluster-running",
		"running",
		"/"
	],
	[
		"cluster-idle",
		"idle",
		"/"
	],
	[
		"upgrade-running",
		"running",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-stalled",
		"stalled",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-blocked",
		"drainBlocked",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-large",
		"large",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-outage",
		"outageExpected",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-unexpected",
		"outageUnexpected",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-approval",
		"awaitingApproval",
		"/operations/to-v1-36-3"
	],
	[
		"upgrade-viewer",
		"viewer",
		"/operations/to-v1-36-3"
	],
	[
		"node-failed",
		"stalled",
		"/nodes/worker-1"
	],
	[
		"node-blocked",
		"drainBlocked",
		"/nodes/worker-1"
	],
	[
		"node-active",
		"outageExpected",
		"/nodes/cp-2"
	],
	[
		"sign-in",
		"running",
		"/sign-in"
	]
];
const only = process.argv.slice(2);
const browser = await chromium.launch(chromium$1);
for (const [name, scene, path] of shots) {
	if (only.length && !only.includes(name)) continue;
	const replay = new Replay(scenes[scene]());
	const url = await replay.start();
	for (const [colorScheme, width] of [
		["light", 1280],
		["dark", 390],
		...process.env.ALL ? [["dark", 1280], ["light", 390]] : []
	]) {
		const page = await browser.newPage({
			colorScheme,
			viewport: {
				width,
				height: width > 800 ? 1500 : 2600
			}
		});
		page.on("console", (m) => {
			if (m.type() === "error") console.log(name, m.text());
		});
		page.on("pageerror", (e) => console.log(name, e.message));
		await page.goto(url + path);
		await page.waitForSelector("h1");
		await page.waitForTimeout(2500);
		await page.screenshot({
			path: `/tmp/shots/${name}-${colorScheme}-${width}.png`,
			fullPage: false
		});
		await page.close();
	}
	await replay.stop();
}
await browser.close();
//#endregion
export {};

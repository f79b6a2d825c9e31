import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { readFileSync, existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AuditList, ClusterUpgradeSpec, Explanation, Me, NodeRow, PastOperation, State } from '../../src/api/documents.ts'
import { spec } from '../documents/checks.ts'
import { meWith } from '../documents/me.ts'
import { ago } from '../documents/time.ts'
import { Bundles } from './bundles.ts'
import { Configs } from './config.ts'
import { Checks, problem, type Answer } from './checks.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const policy = readFileSync(join(root, 'content-security-policy.txt'), 'utf8').trim()
const mediaTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml', '.woff2': 'font/woff2',
}

/** What a replayed cluster answers. */
export interface Scene {
  state: State
  history: PastOperation[]
  rows: NodeRow[]
  explanations: Explanation[]
  /** Whether the user may change operations, and approve plans. */
  operator: boolean
  approver?: boolean
  audit?: AuditList
}

/** Serves the built pages with the policy of the product, and replays documents as the HTTP API. */
export class Replay {
  scene: Scene
  /** A one-time code that is still valid. */
  code = ''
  signedIn = true
  /** The OpenID Connect issuer, if there is one. It signs everybody in. */
  issuer: string | undefined
  /** A frozen server accepts connections and requests, and answers none. */
  frozen = false
  readonly checks = new Checks()
  readonly bundles = new Bundles()
  readonly configs = new Configs()
  readonly requests: string[] = []
  readonly lastEventIDs: string[] = []
  #server: Server
  #streams = new Set<ServerResponse>()
  #revision = 0
  #heartbeats: ReturnType<typeof setInterval> | undefined

  constructor(scene: Scene) {
    this.scene = scene
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#heartbeats = setInterval(() => this.beat(), 1000)
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop() {
    clearInterval(this.#heartbeats)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Breaks all event streams. */
  disconnect() {
    this.#streams.forEach((stream) => stream.destroy())
    this.#streams.clear()
  }

  send(type: string, data: unknown) {
    this.#revision++
    if (this.frozen) return
    for (const stream of this.#streams) stream.write(`id: boot.${this.#revision}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  beat() {
    const { source, observedAt, apiServer } = this.scene.state
    this.send('heartbeat', { now: ago(0), source, observedAt: source === 'api' ? ago(0) : observedAt, apiReachable: apiServer.reachable })
  }

  setState(state: State) {
    this.scene.state = state
    this.send('state', state)
    this.beat()
  }

  #answer(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', 'http://replay')
    this.requests.push(`${request.method} ${url.pathname}${url.search}`)
    if (this.frozen) return
    response.setHeader('Content-Security-Policy', policy)
    if (!url.pathname.startsWith('/api/')) return this.#file(url.pathname, response)
    const path = url.pathname.slice('/api/v1alpha1/'.length).split('/').map(decodeURIComponent)
    if (path[0] === 'session') return void this.#session(request, response)
    if (!this.signedIn) return this.#problem(response, 401, 'unauthenticated', 'There is no session.')
    if (path[0] === 'support-bundles') return void this.#bundle(request, path, response)
    if (path[0] === 'config') return void this.#config(request, path, url, response)
    if (path[0] === 'events') return this.#events(request, response)
    if (request.method !== 'GET' && request.method !== 'POST' || path[0] === 'checks' || (path[0] === 'operations' && path.length === 1 && request.method === 'POST')) {
      return void this.#write(request, path, response)
    }
    if (request.method === 'POST' && path[2] === 'approve') return void this.#approve(request, path[1] ?? '', response)
    this.#document(request.method ?? 'GET', path, url, response)
  }

  /** What the wizard reads and writes. */
  async #write(request: IncomingMessage, [kind, name = '', part]: string[], response: ServerResponse) {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (kind === 'checks' && part === 'manifest') return void response.setHeader('Content-Type', 'application/yaml').end(this.checks.manifest())
    if (kind === 'checks' && request.method === 'GET') return this.#send(response, this.checks.get(name))
    if (!this.scene.state.apiServer.reachable) return this.#problem(response, 503, 'api-unreachable', 'The API server is unreachable.')
    if (kind === 'checks') return this.#send(response, this.checks.create(JSON.parse(body) as ClusterUpgradeSpec))
    if (kind === 'operations' && request.method === 'POST') {
      const answer = this.checks.start(String(request.headers['idempotency-key']), JSON.parse(body) as { spec: ClusterUpgradeSpec; plan: string })
      return answer ? this.#send(response, answer) : void response.writeHead(504, { 'Content-Type': 'text/html' }).end('<h1>Gateway timeout</h1>')
    }
    if (kind === 'operations') return this.#send(response, this.#patch(name, String(request.headers['if-match']), JSON.parse(body)))
    const kubernetes = /v\d+\.\d+\.\d+/.exec(name)?.[0] ?? 'v1.37.0'
    if (!body.includes('ClusterRelease')) {
      return this.#send(response, problem(422, 'bad-signature', 'No key that the hosts accept has signed the file.', { remedy: 'Sign it: `refit release sign`' }))
    }
    const { state } = this.scene
    this.setState({ ...state, releases: [...state.releases, { name, kubernetes, keyID: 'SHA256:vendor', createTime: ago(0), verifiedHosts: 0, rejectedHosts: 0 }] })
    this.#send(response, { status: 201, body: { name, kubernetes, digest: `sha256:${'0'.repeat(64)}`, keyID: 'SHA256:vendor', trust: 'Verified', existed: false } })
  }

  async #config(request: IncomingMessage, [, part]: string[], url: URL, response: ServerResponse) {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { method = 'GET' } = request
    this.#send(response, this.configs.answer(method, part, url.searchParams.get('release') ?? '', String(request.headers['if-match']), body))
  }

  async #bundle(request: IncomingMessage, [, id, file]: string[], response: ServerResponse) {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    if (file) return void response.setHeader('Content-Type', 'application/gzip').end(`archive of ${id}`)
    this.#send(response, id ? this.bundles.get(id) : this.bundles.create(JSON.parse(body)))
  }

  #patch(name: string, etag: string, body: unknown): Answer {
    this.checks.patches.push({ etag, body })
    if (etag !== '"spec-1"') return problem(412, 'precondition-failed', 'The upgrade was changed in the meantime.')
    return { status: 200, body: { kind: 'Change', verb: 'change', operation: name, changed: true, message: 'The plan changes, and needs approval.' } }
  }

  #send(response: ServerResponse, { status, body, headers = {} }: Answer) {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }

  #document(method: string, [kind, name, part]: string[], url: URL, response: ServerResponse) {
    const { state, history, explanations } = this.scene
    const observed = { source: state.source, observedAt: state.observedAt }
    if (method === 'POST' && part) return this.#verb(part, name ?? '', response)
    if (kind === 'me') return this.#json(response, this.#me())
    if (kind === 'audit') return this.#json(response, this.scene.audit ?? { verified: true, entries: [] })
    if (kind === 'state') return this.#json(response, state)
    if (kind === 'operations' && part === 'nodes') return this.#json(response, { ...observed, operation: name, ...this.#page(url) })
    if (kind === 'operations' && name === undefined) return this.#json(response, { ...observed, cluster: state.cluster, operations: history })
    if (kind === 'operations' && name === state.operation?.name) {
      response.setHeader('ETag', '"spec-1"')
      return this.#json(response, { ...observed, operation: state.operation, spec })
    }
    if (kind === 'nodes' && name === undefined) return this.#json(response, { ...observed, operation: state.operation?.name ?? '', ...this.#page(url) })
    const explanation = explanations.find(({ node }) => node === name)
    if (kind === 'nodes' && explanation) return this.#json(response, { ...observed, explanation })
    this.#problem(response, 404, 'not-found', `There is no ${kind} ${name}.`)
  }

  /** Approves the plan that waits, and no other. The operation changes without an event if the answer is one of a stale plan. */
  async #approve(request: IncomingMessage, name: string, response: ServerResponse) {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const { operation } = this.scene.state
    const { plan } = JSON.parse(body) as { plan: string }
    if (!operation || plan !== (operation.proposedPlan ?? operation.plan)) {
      return this.#problem(response, 409, 'plan-changed', `The plan of ${name} is not the given one.`)
    }
    this.#verb('approve', name, response)
  }

  #verb(verb: string, name: string, response: ServerResponse) {
    const { operation, apiServer } = this.scene.state
    if (!apiServer.reachable) return this.#problem(response, 503, 'api-unreachable', 'The API server is unreachable.')
    if (operation && verb === 'pause') this.setState({ ...this.scene.state, operation: { ...operation, paused: true, phase: 'Paused', message: 'Paused' } })
    this.#json(response, { kind: 'Change', verb, operation: name, changed: true, message: `${verb} ${name}: accepted.` })
  }

  #me(): Me {
    const { operator, approver = operator } = this.scene
    return meWith(operator, approver)
  }

  #page(url: URL) {
    const states = url.searchParams.getAll('state')
    const text = url.searchParams.get('q') ?? ''
    const after = Number(url.searchParams.get('continue') ?? 0)
    const limit = Number(url.searchParams.get('limit') ?? 200)
    const found = this.scene.rows.filter((row) => (states.length === 0 || states.includes(row.state)) && row.node.includes(text))
    const next = after + limit < found.length ? { continue: String(after + limit) } : {}
    return { total: found.length, nodes: found.slice(after, after + limit), ...next }
  }

  #events(request: IncomingMessage, response: ServerResponse) {
    const last = request.headers['last-event-id']
    if (last !== undefined) this.lastEventIDs.push(String(last))
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    this.#streams.add(response)
    response.on('close', () => this.#streams.delete(response))
    response.write('retry: 200\n')
    this.send('hello', { boot: 'boot', revision: this.#revision, resumed: last !== undefined, heartbeatSeconds: 1 })
    if (last === undefined) this.send('state', this.scene.state)
    this.beat()
  }

  async #session(request: IncomingMessage, response: ServerResponse) {
    if (request.method === 'GET' && request.url?.includes('/session/oidc')) {
      this.signedIn = true
      const from = new URL(request.url, 'http://replay').searchParams.get('from') ?? '/'
      return response.writeHead(303, { Location: from }).end()
    }
    if (request.method === 'GET') return this.#json(response, { code: true, issuer: this.issuer })
    if (request.method === 'DELETE') {
      this.signedIn = false
      return response.writeHead(204).end()
    }
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const credential = JSON.parse(body) as { code?: string; token?: string }
    const valid = credential.code !== undefined ? credential.code !== '' && credential.code === this.code : credential.token === 'valid'
    if (!valid) return this.#problem(response, 401, 'invalid-credential', 'The server does not accept the credential.')
    this.code = ''
    this.signedIn = true
    response.statusCode = 201
    this.#json(response, this.#me())
  }

  #file(path: string, response: ServerResponse) {
    const file = join(root, 'dist', path)
    const found = extname(path) !== '' && existsSync(file) ? file : join(root, 'dist/index.html')
    response.setHeader('Content-Type', mediaTypes[extname(found)] ?? 'application/octet-stream')
    response.end(readFileSync(found))
  }

  #json(response: ServerResponse, body: unknown) {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(body))
  }

  #problem(response: ServerResponse, status: number, code: string, detail: string) {
    response.writeHead(status, { 'Content-Type': 'application/problem+json' })
    response.end(JSON.stringify({ type: 'about:blank', title: code, status, code, detail, requestId: 'r-1' }))
  }
}

import type { Answers, Config, FieldError, RenderedConfig } from '../../src/api/documents.ts'
import { form } from '../documents/form.ts'
import { problem, type Answer } from './checks.ts'

/** The form of a publisher on a replayed server. Without a form, there is none. */
export class Configs {
  form: Config['form']
  trust: Config['trust'] = 'Verified'
  pending: string[] = []
  /** Why the caller may not read the answers. */
  forbidden = ''
  readonly rendered: Answers[] = []
  readonly saved: Answers[] = []
  #answers: Answers = {}
  #password = ''
  #version = 1

  answer(method: string, part: string | undefined, release: string, etag: string, body: string): Answer {
    if (!this.form) return problem(404, 'not-found', `ClusterRelease ${release} has no form.`)
    if (this.forbidden) return problem(403, 'forbidden', this.forbidden, { remedy: 'Ask an administrator for the ClusterRole refit-component-editor' })
    if (method === 'GET') return this.#config(release)
    const { answers } = JSON.parse(body) as { answers: Answers }
    const rendered = this.#render(answers)
    if (part === 'render') {
      this.rendered.push(answers)
      return { status: 200, body: rendered }
    }
    if (etag !== this.#etag()) return problem(412, 'precondition-failed', 'Somebody else has saved the form after it was read.')
    if (rendered.errors.length > 0) return problem(422, 'invalid', 'The form cannot be saved with these answers.', { errors: rendered.errors })
    this.saved.push(answers)
    const { password, ...others } = answers
    this.#answers = others
    if (typeof password === 'string') this.#password = password
    this.#version++
    this.pending = []
    return this.#config(release)
  }

  /** Somebody else saves the form. */
  overwrite(answers: Answers) {
    this.#answers = answers
    this.#version++
  }

  #etag(): string {
    return `"uid.${this.#version}"`
  }

  #config(release: string): Answer {
    const config: Config = {
      release, digest: `sha256:${'0'.repeat(64)}`, keyID: 'SHA256:vendor', trust: this.trust, form: this.form ?? form, answers: this.#answers,
      passwords: this.#password ? ['password'] : [], pending: this.pending, rendered: this.#render(this.#answers),
      ...(this.#version > 1 && { savedFor: release }),
    }
    return { status: 200, body: config, headers: { ETag: this.#etag() } }
  }

  #render(answers: Answers): RenderedConfig {
    const errors: FieldError[] = []
    const shown = answers['tls'] === true
    const host = answers['host'] ?? ''
    if (host === '') errors.push({ pointer: '#/answers/host', detail: 'is required' })
    else if (!/^[a-z.]+$/.test(String(host))) errors.push({ pointer: '#/answers/host', detail: 'must match the pattern [a-z.]+' })
    if (typeof answers['replicas'] === 'string') errors.push({ pointer: '#/answers/replicas', detail: 'must be a number' })
    if (shown && (answers['password'] ?? this.#password) === '') errors.push({ pointer: '#/answers/password', detail: 'is required' })
    return {
      groups: ['access', ...(shown ? ['database'] : [])], items: [...((this.form ?? form).groups[0]?.items ?? []).map(({ name }) => name), ...(shown ? ['password'] : [])], errors, values: {},
    }
  }
}

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { Answers, Config, FormItem, RenderedConfig } from '../../api/documents.ts'
import { ProblemError } from '../../api/problem.ts'
import { keys } from '../../data/keys.ts'
import { fieldErrorsOf, type FieldErrors } from '../../wizard/field-errors.ts'
import { renderConfig, saveConfig } from './config.ts'

/** How long nothing is typed before the server evaluates the answers. */
const pause = 300

const nothing: RenderedConfig = { groups: [], items: [], errors: [], values: {} }
const noErrors: FieldErrors = new Map()

/** The answers to a form that is being filled in. Numbers are texts until they are sent. */
export function useAnswers(config: Config, first: string) {
  const cache = useQueryClient()
  const { release } = config
  const [etag, setETag] = useState(first)
  const [given, setGiven] = useState<Answers>(config.answers ?? {})
  const [rendered, setRendered] = useState(config.rendered ?? nothing)
  const [changed, setChanged] = useState(false)
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const [failed, setFailed] = useState(false)
  const numbers = useMemo(() => new Set(config.form?.groups.flatMap(({ items }) => items).filter(({ type }) => type === 'Number').map(({ name }) => name)), [config.form])

  useEffect(() => {
    if (!changed) return undefined
    const abort = new AbortController()
    const timer = setTimeout(() => {
      renderConfig(release, typed(given, numbers), abort.signal)
        .then((answer) => {
          setRendered(answer)
          setFailed(false)
        })
        .catch(() => {
          if (!abort.signal.aborted) setFailed(true) // saving reports why
        })
    }, pause)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [changed, given, numbers, release])

  const save = useMutation({
    mutationFn: () => saveConfig(release, typed(given, numbers), etag),
    onSuccess: (read) => {
      cache.setQueryData(keys.config(release), read)
      setETag(read.etag)
      setGiven(read.config.answers ?? {})
      setRendered(read.config.rendered ?? nothing)
      setChanged(false)
      setTouched(new Set())
    },
  })
  const summary = useMemo(
    () => fieldErrorsOf(save.error instanceof ProblemError ? save.error.problem.errors ?? [] : []), [save.error],
  )
  // A field that nobody has filled in yet is not wrong before somebody saves.
  const fields = useMemo(() => {
    const current = fieldErrorsOf(rendered.errors)
    if (save.isError) return current.size > 0 ? current : summary
    const found = [...current].filter(([pointer]) => touched.has(pointer.slice('/answers/'.length)))
    return found.length > 0 ? new Map(found) : noErrors
  }, [rendered, save.isError, summary, touched])

  return {
    rendered, save, summary, fields, changed, failed,
    // An item may have a name that every object has, such as constructor.
    value: (item: FormItem) => (Object.hasOwn(given, item.name) ? given[item.name] : item.default) ?? '',
    change: (item: FormItem, value: string | boolean) => {
      setChanged(true)
      setTouched((names) => new Set([...names, item.name]))
      setGiven((before) => {
        const after = { ...before, [item.name]: value }
        // An empty password is the stored one.
        if (item.type === 'Password' && value === '') delete after[item.name]
        return after
      })
    },
  }
}

/** Answers as they are sent: a text that is a number is one. Any other is refused at its field. */
function typed(given: Answers, numbers: ReadonlySet<string>): Answers {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => {
    if (!numbers.has(name) || typeof value !== 'string') return [name, value]
    const text = value.trim()
    return [name, text === '' ? null : /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text]
  }))
}

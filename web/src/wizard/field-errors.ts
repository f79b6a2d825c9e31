import { createContext, useContext } from 'react'
import type { FieldError } from '../api/documents.ts'

/** What is invalid, by the JSON pointer of the field in the spec. */
export type FieldErrors = ReadonlyMap<string, string>

export const FieldErrorsContext = createContext<FieldErrors>(new Map())

export function useFieldError(pointer: string): string | undefined {
  return useContext(FieldErrorsContext).get(pointer)
}

/** The errors of a problem by field. Those of a request with the spec in a field are those of the spec. */
export function fieldErrorsOf(errors: FieldError[]): FieldErrors {
  const found = new Map<string, string>()
  for (const { pointer, detail } of errors) {
    const key = pointer.replace(/^#?(\/spec)?(?=\/|$)/, '')
    found.set(key, [found.get(key), detail].filter(Boolean).join('; '))
  }
  return found
}

/** The id of the element of a field. */
export function fieldID(pointer: string): string {
  return `field${pointer.replaceAll('/', '-')}`
}

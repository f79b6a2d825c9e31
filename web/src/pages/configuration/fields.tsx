import { FormGroup, FormHelperText, FormSelect, FormSelectOption, HelperText, HelperTextItem, Radio, TextInput } from '@patternfly/react-core'
import type { ReactNode } from 'react'
import { fieldID, useFieldError } from '../../wizard/field-errors.ts'

interface FieldProps<T extends string> {
  /** The JSON pointer of the field in the spec, by which the server names it. */
  pointer: string
  label: string
  help?: string
  value: T
  change: (value: T) => void
}

/** A line of text, with what the server finds wrong with it. */
export function TextField({ pointer, label, help, value, change, required = false }: FieldProps<string> & { required?: boolean }) {
  const id = fieldID(pointer)
  const error = useFieldError(pointer)
  return (
    <FormGroup label={label} fieldId={id} isRequired={required}>
      <TextInput
        id={id} value={value} autoComplete="off" spellCheck="false" isRequired={required} validated={error ? 'error' : 'default'}
        aria-invalid={error !== undefined}
        {...((help ?? error) && { 'aria-describedby': `${id}-help` })} onChange={(_, next) => change(next)}
      />
      <Help id={`${id}-help`} help={help} error={error} />
    </FormGroup>
  )
}

interface Option<T extends string> {
  value: T
  label: string
  help?: string
}

export function SelectField<T extends string>({ pointer, label, help, value, change, options }: FieldProps<T> & { options: Option<T>[] }) {
  const id = fieldID(pointer)
  const error = useFieldError(pointer)
  const text = options.find((option) => option.value === value)?.help ?? help
  return (
    <FormGroup label={label} fieldId={id}>
      <FormSelect
        id={id} value={value} validated={error ? 'error' : 'default'} {...((text ?? error) && { 'aria-describedby': `${id}-help` })}
        onChange={(_, next) => change(next as T)}
      >
        {options.map((option) => <FormSelectOption key={option.value} value={option.value} label={option.label} />)}
      </FormSelect>
      <Help id={`${id}-help`} help={text} error={error} />
    </FormGroup>
  )
}

export function RadioField<T extends string>({ pointer, label, value, change, options }: FieldProps<T> & { options: Option<T>[] }) {
  const id = fieldID(pointer)
  const error = useFieldError(pointer)
  return (
    <FormGroup role="radiogroup" label={label} fieldId={id} isStack>
      {options.map((option, i) => (
        <Radio
          key={option.value} id={i === 0 ? id : `${id}-${option.value}`} name={id} label={option.label} description={option.help}
          isChecked={option.value === value} onChange={() => change(option.value)}
        />
      ))}
      <Help id={`${id}-help`} help={undefined} error={error} />
    </FormGroup>
  )
}

export function Help({ id, help, error }: { id: string; help: ReactNode; error: string | undefined }) {
  if (help === undefined && error === undefined) return null
  return (
    <FormHelperText>
      <HelperText id={id}>
        {error !== undefined && <HelperTextItem variant="error">{error}</HelperTextItem>}
        {help !== undefined && <HelperTextItem>{help}</HelperTextItem>}
      </HelperText>
    </FormHelperText>
  )
}

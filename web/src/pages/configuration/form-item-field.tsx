import { Checkbox, FormGroup, FormSelect, FormSelectOption, HelperText, HelperTextItem, TextInput } from '@patternfly/react-core'
import { useTranslation } from 'react-i18next'
import type { FormItem } from '../../api/documents.ts'
import { fieldID, useFieldError } from '../../wizard/field-errors.ts'
import { Help } from './fields.tsx'

interface FormItemFieldProps {
  item: FormItem
  value: unknown
  /** Whether the server has a password already. */
  stored: boolean
  change: (value: string | boolean) => void
}

/** One question of the publisher. */
export function FormItemField({ item, value, stored, change }: FormItemFieldProps) {
  const { t } = useTranslation()
  const pointer = `/answers/${item.name}`
  const id = fieldID(pointer)
  const error = useFieldError(pointer)
  const help = [item.help, item.type === 'Password' && stored ? t('form.passwordStored') : undefined].filter(Boolean).join(' ') || undefined
  const described = { ...((help ?? error) !== undefined && { 'aria-describedby': `${id}-help` }) }
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  if (item.type === 'Switch') {
    return (
      <div>
        <Checkbox id={id} label={item.title} isChecked={value === true} onChange={(_, on) => change(on)} {...described} />
        <HelperText id={`${id}-help`}>
          {error !== undefined && <HelperTextItem variant="error">{error}</HelperTextItem>}
          {help !== undefined && <HelperTextItem>{help}</HelperTextItem>}
        </HelperText>
      </div>
    )
  }
  const required = item.required ?? false
  return (
    <FormGroup label={item.title} fieldId={id} isRequired={required}>
      {item.type === 'Choice'
        ? (
          <FormSelect id={id} value={text} validated={error ? 'error' : 'default'} isRequired={required} onChange={(_, next) => change(next)} {...described}>
            <FormSelectOption value="" label={t('form.choose')} />
            {item.options?.map((option) => <FormSelectOption key={option.value} value={option.value} label={option.title ?? option.value} />)}
          </FormSelect>
        )
        : (
          <TextInput
            id={id} value={text} type={item.type === 'Password' ? 'password' : 'text'} spellCheck="false" isRequired={required}
            autoComplete={item.type === 'Password' ? 'new-password' : 'off'} {...(item.type === 'Number' && { inputMode: 'decimal' })}
            validated={error ? 'error' : 'default'} aria-invalid={error !== undefined} onChange={(_, next) => change(next)} {...described}
          />
        )}
      <Help id={`${id}-help`} help={help} error={error} />
    </FormGroup>
  )
}

import { Button, Form, FormGroup, Modal, ModalBody, ModalFooter, ModalHeader, TextInput } from '@patternfly/react-core'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { CommandLine } from '../components/command-line.tsx'

interface AbortDialogProps {
  name: string
  close: () => void
  confirm: () => void
}

/** Requires the name of the operation: an abort cannot be undone. */
export function AbortDialog({ name, close, confirm }: AbortDialogProps) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState('')
  const matches = typed.trim() === name
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (matches) confirm()
  }
  return (
    <Modal variant="small" isOpen onClose={close} aria-labelledby="abort-title">
      <ModalHeader title={t('actions.abortTitle', { name })} titleIconVariant="warning" labelId="abort-title" />
      <ModalBody>
        <Form id="abort-form" onSubmit={submit}>
          <p>{t('actions.abortHelp')}</p>
          <FormGroup label={t('actions.abortType', { name })} fieldId="abort-name">
            <TextInput id="abort-name" value={typed} onChange={(_, value) => setTyped(value)} autoComplete="off" spellCheck="false" autoFocus />
          </FormGroup>
        </Form>
        <CommandLine command={`refit abort ${name}`} />
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" type="submit" form="abort-form" isDisabled={!matches}>{t('actions.abortConfirm')}</Button>
        <Button variant="link" onClick={close}>{t('cancel')}</Button>
      </ModalFooter>
    </Modal>
  )
}

import { Button, Form, FormGroup, FormHelperText, HelperText, HelperTextItem, Modal, ModalBody, ModalFooter, ModalHeader, TextInput } from '@patternfly/react-core'
import { useState, type FormEvent, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** The longest reason that a ClusterUpgrade can have. */
const longestReason = 512

interface ReasonDialogProps {
  title: string
  confirm: string
  children: ReactNode
  close: () => void
  waive: (reason: string) => void
}

/** Waives a finding: the reason is required, because others read it later. */
export function ReasonDialog({ title, confirm, children, close, waive }: ReasonDialogProps) {
  const { t } = useTranslation()
  const [reason, setReason] = useState('')
  const [missing, setMissing] = useState(false)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (reason.trim() === '') return setMissing(true)
    waive(reason.trim())
  }
  return (
    <Modal variant="small" isOpen onClose={close} aria-labelledby="waive-title">
      <ModalHeader title={title} titleIconVariant="warning" labelId="waive-title" />
      <ModalBody>
        <Form id="waive-form" onSubmit={submit}>
          <div className="refit-break">{children}</div>
          <FormGroup label={t('waive.reason')} fieldId="waive-reason" isRequired>
            <TextInput
              id="waive-reason" value={reason} onChange={(_, value) => setReason(value)} maxLength={longestReason} isRequired autoFocus autoComplete="off"
              validated={missing ? 'error' : 'default'} aria-describedby="waive-reason-help"
            />
            <FormHelperText><HelperText id="waive-reason-help">
              <HelperTextItem variant={missing ? 'error' : 'default'}>{missing ? t('waive.reasonMissing') : t('waive.reasonHelp')}</HelperTextItem>
            </HelperText></FormHelperText>
          </FormGroup>
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="waive-form">{confirm}</Button>
        <Button variant="link" onClick={close}>{t('cancel')}</Button>
      </ModalFooter>
    </Modal>
  )
}

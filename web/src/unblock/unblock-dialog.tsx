import { Alert, Button, Form, FormGroup, FormSelect, FormSelectOption, Modal, ModalBody, ModalFooter, ModalHeader, Radio, TextInput } from '@patternfly/react-core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import type { Change, NodeProgress } from '../api/documents.ts'
import { statusOf } from '../api/problem.ts'
import { Blockers } from '../components/blockers.tsx'
import { ProblemDetails } from '../components/problem-details.tsx'
import { ProblemState } from '../components/problem-state.tsx'
import { duration } from '../format/duration.ts'
import { useNow } from '../live/clock.ts'
import { changeOperation, readChangeable, type Changeable } from './change-operation.ts'
import { keyOf, millisecondsOf, patchOf, poolNames, timeoutOf, unblocksOf, type Unblock } from './options.ts'

const shownBlockers = 6

interface UnblockDialogProps {
  operation: string
  node: NodeProgress
  close: () => void
  changed: (change: Change) => void
}

/** Lets a blocked drain continue: by a waiver, or by the policy of the pool. The plan changes with it. */
export function UnblockDialog({ operation, node, close, changed }: UnblockDialogProps) {
  const { t } = useTranslation()
  const blockers = node.blockers ?? []
  const read = useQuery({ queryKey: ['changeable', operation], queryFn: ({ signal }) => readChangeable(operation, signal), staleTime: 0, gcTime: 0 })
  return (
    <Modal variant="medium" isOpen onClose={close} aria-labelledby="unblock-title">
      <ModalHeader title={t('unblock.title', { node: node.node })} titleIconVariant="warning" labelId="unblock-title" />
      {read.data
        ? <Choice operation={operation} node={node} base={read.data} close={close} changed={changed} again={() => void read.refetch()} />
        : <ModalBody><Blockers blockers={blockers} most={shownBlockers} />{read.error ? <ProblemState error={read.error} retry={() => void read.refetch()} /> : <p role="status">{t('loading')}</p>}</ModalBody>}
    </Modal>
  )
}

interface ChoiceProps extends UnblockDialogProps {
  base: Changeable
  again: () => void
}

function Choice({ operation, node, base, close, changed, again }: ChoiceProps) {
  const { t } = useTranslation()
  const blockers = node.blockers ?? []
  const options = unblocksOf(blockers)
  const pools = poolNames(base.spec)
  const [chosen, setChosen] = useState<Unblock>()
  const [pool, setPool] = useState(pools[0] ?? '')
  const [reason, setReason] = useState('')
  const [timeout, setTimeout] = useState<string>()
  const now = useNow()
  const after = timeout ?? timeoutOf(base.spec, pool)
  const change = useMutation({
    mutationFn: (unblock: Unblock) => changeOperation(operation, base.etag, patchOf({ unblock, pool, reason: reason.trim(), timeout: after }, base.spec)),
    onSuccess: changed,
    onError: (error) => {
      if (statusOf(error) === 412) again()
    },
  })
  const ready = chosen !== undefined && (chosen.kind === 'waive' ? reason.trim() !== '' : millisecondsOf(after) !== undefined)
  const applies = () => {
    const limit = millisecondsOf(after)
    if (limit === undefined) return t('unblock.noDuration')
    const left = limit - (node.since ? now - Date.parse(node.since) : 0)
    return left > 0 ? t('unblock.applies', { node: node.node, duration: duration(left) }) : t('unblock.appliesNow', { node: node.node })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (chosen && ready && !change.isPending) change.mutate(chosen)
  }
  return (
    <>
      <ModalBody>
        <Form id="unblock-form" onSubmit={submit}>
          <Blockers blockers={blockers} most={shownBlockers} />
          {change.error && (
            <Alert isInline variant="danger" title={statusOf(change.error) === 412 ? t('unblock.stale') : t('unblock.failed')} component="h3" role="alert">
              <ProblemDetails error={change.error} />
            </Alert>
          )}
          <p>{t('unblock.best')}</p>
          <FormGroup role="radiogroup" label={t('unblock.choose')} fieldId="unblock-0" isStack>
            {options.map((option, i) => (
              <Radio
                key={keyOf(option)} id={`unblock-${i}`} name="unblock" isChecked={chosen !== undefined && keyOf(chosen) === keyOf(option)} onChange={() => setChosen(option)}
                label={option.kind === 'waive' ? t('unblock.waive', { object: option.object }) : t(`unblock.${option.kind}`)}
                description={option.kind === 'waive' ? t(`unblock.help.${option.check as 'UnmanagedPod'}`) : t(`unblock.help.${option.kind}`)}
              />
            ))}
          </FormGroup>
          {chosen?.kind === 'waive' && (
            <FormGroup label={t('waive.reason')} fieldId="unblock-reason" isRequired>
              <TextInput id="unblock-reason" value={reason} onChange={(_, value) => setReason(value)} maxLength={512} isRequired />
            </FormGroup>
          )}
          {chosen && chosen.kind !== 'waive' && pools.length > 1 && (
            <FormGroup label={t('unblock.pool')} fieldId="unblock-pool">
              <FormSelect id="unblock-pool" value={pool} onChange={(_, value) => setPool(value)}>
                {pools.map((name) => <FormSelectOption key={name} value={name} label={name} />)}
              </FormSelect>
            </FormGroup>
          )}
          {chosen && chosen.kind !== 'waive' && (
            <FormGroup label={t('unblock.after')} fieldId="unblock-after" isRequired>
              <TextInput id="unblock-after" value={after} onChange={(_, value) => setTimeout(value.trim())} aria-describedby="unblock-applies" isRequired />
              <p id="unblock-applies" className="refit-muted">{applies()}</p>
            </FormGroup>
          )}
          <p className="refit-muted">{t('unblock.plan')}</p>
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="unblock-form" variant={chosen?.kind === 'Delete' ? 'danger' : 'primary'} isDisabled={!ready} isLoading={change.isPending}>{t('unblock.confirm')}</Button>
        <Button variant="link" onClick={close}>{t('cancel')}</Button>
      </ModalFooter>
    </>
  )
}

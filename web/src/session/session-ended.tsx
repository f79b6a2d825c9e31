import { Alert, AlertActionLink, Modal, ModalBody, ModalHeader } from '@patternfly/react-core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'react-router'
import { useTranslation } from 'react-i18next'
import { IssuerSignIn } from './issuer-sign-in.tsx'
import { TokenForm } from './token-form.tsx'

/** Offers the sign-in without leaving the page: filters, scroll position and data stay. */
export function SessionEnded() {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const { pathname, search } = useLocation()
  const [open, setOpen] = useState(false)
  return (
    <>
      <Alert
        isInline variant="warning" title={t('session.endedTitle')} component="h2"
        actionLinks={<AlertActionLink onClick={() => setOpen(true)}>{t('session.endedAction')}</AlertActionLink>}
      >
        {t('session.endedBody')}
      </Alert>
      <Modal variant="small" isOpen={open} onClose={() => setOpen(false)} aria-labelledby="sign-in-again">
        <ModalHeader title={t('session.endedAction')} labelId="sign-in-again" description={t('session.lead')} />
        <ModalBody>
          <IssuerSignIn from={pathname + search} />
          <TokenForm done={() => {
            setOpen(false)
            void cache.invalidateQueries()
          }} />
        </ModalBody>
      </Modal>
    </>
  )
}

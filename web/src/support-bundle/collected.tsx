import { useTranslation } from 'react-i18next'
import type { BundlePart, SupportBundle } from '../api/documents.ts'
import { Disclosure } from '../components/disclosure.tsx'
import { Remedy } from '../components/remedy.tsx'
import { bytes } from '../format/bytes.ts'
import { addressOf } from './bundles.ts'

/** What a support bundle has so far, what is missing in it, and its file. */
export function Collected({ bundle }: { bundle: SupportBundle }) {
  const { t } = useTranslation()
  const collected = bundle.parts.filter(({ path }) => path)
  const missing = bundle.parts.filter(({ error }) => error)
  return (
    <>
      <p>{t('bundle.parts', { count: collected.length })}</p>
      {missing.length > 0 && (
        <Disclosure title={t('bundle.missing', { count: missing.length })}>
          <ul className="refit-tasks">
            {missing.map((part, index) => <li key={index}><MissingPart part={part} /></li>)}
          </ul>
        </Disclosure>
      )}
      {bundle.state === 'Complete' && (
        <>
          <p>
            <a href={addressOf(bundle.id)} download={bundle.file}>{t('bundle.download', { size: bytes(bundle.size ?? 0) })}</a>
          </p>
          <p className="refit-muted">{t('bundle.check')}</p>
        </>
      )}
    </>
  )
}

function MissingPart({ part: { node, source, error } }: { part: BundlePart }) {
  return (
    <>
      <strong>{node ? `${node}: ${source}` : source}</strong>
      <p>{error?.message}</p>
      <Remedy remedy={error?.remedy} />
    </>
  )
}

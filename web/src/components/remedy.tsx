import { useTranslation } from 'react-i18next'
import { CommandLine } from './command-line.tsx'

/** What the user can do: a sentence, in which commands are in backquotes. Each can be copied. */
export function Remedy({ remedy }: { remedy: string | undefined }) {
  const { t } = useTranslation()
  if (!remedy) return null
  return (
    <p className="refit-remedy">
      <b>{t('remedy')}</b>{' '}
      {remedy.split('`').map((part, i) => i % 2 === 1 ? <CommandLine key={i} command={part} /> : part)}
    </p>
  )
}

import { useTranslation } from 'react-i18next'
import en from '../i18n/en.json'

interface Activity {
  activity?: string
  step?: string
  remaining?: number
}

/** Returns what puts the activity on a node into words, as the CLI does. */
export function useActivity() {
  const { t } = useTranslation()
  return ({ activity, step, remaining }: Activity) => {
    if (!activity) return ''
    const word = activity in en.activity ? t(`activity.${activity as 'Drain'}`) : activity
    if (activity === 'Drain') return remaining ? t('activity.remaining', { activity: word, pods: t('pod', { count: remaining }) }) : word
    return step ? t('activity.step', { activity: word, step }) : word
  }
}

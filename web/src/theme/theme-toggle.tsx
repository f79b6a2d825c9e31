import { Button } from '@patternfly/react-core'
import MoonIcon from '@patternfly/react-icons/dist/esm/icons/moon-icon'
import SunIcon from '@patternfly/react-icons/dist/esm/icons/sun-icon'
import { useTranslation } from 'react-i18next'
import { useStore } from '../store.ts'
import { chooseTheme, theme } from './theme.ts'

export function ThemeToggle() {
  const { t } = useTranslation()
  const dark = useStore(theme) === 'dark'
  return (
    <Button
      variant="plain" icon={dark ? <SunIcon /> : <MoonIcon />} onClick={() => chooseTheme(dark ? 'light' : 'dark')}
      aria-label={dark ? t('theme.toLight') : t('theme.toDark')}
    />
  )
}

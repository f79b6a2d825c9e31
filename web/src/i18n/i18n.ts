import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import en from './en.json'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'en'
    resources: { en: typeof en }
    returnNull: false
  }
}

// The texts are in the bundle: a page must not wait for them while the server is unreachable.
void i18next.use(initReactI18next).init({
  lng: 'en',
  fallbackLng: 'en',
  defaultNS: 'en',
  resources: { en: { en } },
  interpolation: { escapeValue: false }, // React escapes
  initAsync: false,
})

export default i18next

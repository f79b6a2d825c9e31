// The default theme without its web fonts: the site has no requests to other hosts.
import DefaultTheme from 'vitepress/theme-without-fonts'
import VersionSelect from './VersionSelect.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('VersionSelect', VersionSelect)
  },
}

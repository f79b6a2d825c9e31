import { Breadcrumb, BreadcrumbItem, Title } from '@patternfly/react-core'
import { useEffect, useRef, type ReactNode } from 'react'
import { Link } from 'react-router'
import { useTranslation } from 'react-i18next'

interface Crumb {
  text: string
  to: string
}

interface HeadingProps {
  title: string
  /** The title of the browser's tab, if it has more, such as the phase. */
  tab?: string
  crumbs?: Crumb[]
  /** The name of the page among the crumbs, if the title is long. */
  here?: string
  label?: ReactNode
}

/** The head of a page. It receives the focus, so that a screen reader reads the new page's title out. */
export function Heading({ title, tab, crumbs = [], here, label }: HeadingProps) {
  const { t } = useTranslation()
  const ref = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = t('title', { page: tab ?? title })
  }, [t, tab, title])
  useEffect(() => {
    // Not on the first page: its start is where keyboard users begin.
    if (window.history.state?.idx > 0) ref.current?.focus({ preventScroll: true })
  }, [])
  return (
    <header className="refit-heading">
      {crumbs.length > 0 && (
        <Breadcrumb>
          {crumbs.map(({ text, to }) => (
            <BreadcrumbItem key={to} render={({ className }) => <Link to={to} className={className}>{text}</Link>} />
          ))}
          <BreadcrumbItem isActive>{here ?? title}</BreadcrumbItem>
        </Breadcrumb>
      )}
      <div className="refit-row">
        <Title headingLevel="h1" size="2xl" tabIndex={-1} ref={ref}>{title}</Title>
        {label}
      </div>
    </header>
  )
}

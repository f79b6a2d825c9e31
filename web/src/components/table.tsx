import '@patternfly/patternfly/components/Table/table.css'
import '@patternfly/patternfly/components/Table/table-grid.css'
import type { ReactNode } from 'react'

// The table of PatternFly without its sorting, selection, trees and menus. The
// roles are explicit: on a narrow screen rows are grids, for which browsers drop them.

interface TableProps {
  label: string
  /** The width below which each row becomes a list; never without it. */
  stackBelow?: 'md' | 'lg'
  children: ReactNode
}

export function Table({ label, stackBelow, children }: TableProps) {
  const stacked = stackBelow ? ` pf-m-grid-${stackBelow}` : ''
  return <table className={`pf-v6-c-table pf-m-compact${stacked}`} role="table" aria-label={label}>{children}</table>
}

/** The head of a table, with the names of its columns. */
export function Columns({ children }: { children: ReactNode }) {
  return (
    <thead className="pf-v6-c-table__thead" role="rowgroup">
      <tr className="pf-v6-c-table__tr" role="row">{children}</tr>
    </thead>
  )
}

export function Column({ className = '', children }: { className?: string; children: ReactNode }) {
  return <th className={`pf-v6-c-table__th pf-m-wrap ${className}`.trim()} scope="col" role="columnheader">{children}</th>
}

export function TableRows({ children }: { children: ReactNode }) {
  return <tbody className="pf-v6-c-table__tbody" role="rowgroup">{children}</tbody>
}

export function TableRow({ current = false, children }: { current?: boolean; children: ReactNode }) {
  return <tr className="pf-v6-c-table__tr" role="row" aria-current={current ? 'step' : undefined}>{children}</tr>
}

interface CellProps {
  /** The name of the column, which a stacked row repeats. */
  label?: string
  wrap?: 'anywhere' | 'never'
  className?: string
  children: ReactNode
}

/** A cell. In a stacked row it is a grid, so that its content is one element. */
export function Cell({ label, wrap, className = '', children }: CellProps) {
  const modifier = wrap === 'anywhere' ? 'pf-m-break-word' : wrap === 'never' ? 'pf-m-nowrap' : ''
  return (
    <td className={['pf-v6-c-table__td', modifier, className].filter(Boolean).join(' ')} role="cell" data-label={label}>
      <div>{children}</div>
    </td>
  )
}

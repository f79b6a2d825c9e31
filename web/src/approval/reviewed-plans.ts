import type { Plan } from '../api/documents.ts'
import { outlineOf, type Outline } from './outline.ts'

const storageKey = 'refit-plans'
const mostPlans = 8
/** A larger plan is not kept: its outline would fill the storage of the browser. */
const mostNodes = 2000

/** Keeps the outline of a plan that was started or approved here, to compare a later one with it. */
export function keepReviewed(plan: Plan) {
  const outline = outlineOf(plan)
  if (outline.nodes.length > mostNodes) return
  const others = load().filter(({ hash }) => hash !== outline.hash)
  try {
    localStorage.setItem(storageKey, JSON.stringify([outline, ...others].slice(0, mostPlans)))
  } catch {
    // Without storage, later plans are shown without a comparison.
  }
}

/** The outline of a plan by its hash, if this browser has it. */
export function reviewedPlan(hash: string | undefined): Outline | undefined {
  return load().find((outline) => outline.hash === hash)
}

function load(): Outline[] {
  try {
    const value = JSON.parse(localStorage.getItem(storageKey) ?? '[]') as Outline[]
    return Array.isArray(value) ? value.filter(({ nodes, releases, components }) => [nodes, releases, components].every(Array.isArray)) : []
  } catch {
    return []
  }
}

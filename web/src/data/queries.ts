import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { client, dataOf } from '../api/client.ts'
import { keys, type NodeFilter } from './keys.ts'

/** The number of rows of a page of nodes. */
export const nodesPerPage = 50

export function useClusterState() {
  return useQuery({ queryKey: keys.state, queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/state', { signal })) })
}

export function useOperations() {
  return useQuery({
    queryKey: keys.operations, queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/operations', { signal })),
  })
}

export function useOperation(name: string) {
  return useQuery({
    queryKey: keys.operation(name),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/operations/{name}', { params: { path: { name } }, signal })),
  })
}

/** The nodes and their state in an operation. Without a name, it is the last one, if there is any. */
export function useNodes(operation: string, filter: NodeFilter) {
  return useQuery({
    queryKey: keys.nodes(operation, filter),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = {
        limit: nodesPerPage,
        ...(filter.states.length > 0 && { state: filter.states }),
        ...(filter.text !== '' && { q: filter.text }),
        ...(filter.after !== '' && { continue: filter.after }),
      }
      if (operation === '') return dataOf(client.GET('/api/v1alpha1/nodes', { params: { query }, signal }))
      return dataOf(client.GET('/api/v1alpha1/operations/{name}/nodes', { params: { path: { name: operation }, query }, signal }))
    },
  })
}

export function useExplanation(node: string) {
  return useQuery({
    queryKey: keys.explanation(node),
    queryFn: ({ signal }) => dataOf(client.GET('/api/v1alpha1/nodes/{name}', { params: { path: { name: node } }, signal })),
  })
}

import { QueryClientProvider, type QueryClient } from '@tanstack/react-query'
import { lazy } from 'react'
import { createBrowserRouter, RouterProvider } from 'react-router'
import { CrashPage } from './pages/crash-page.tsx'
import { NotFoundPage } from './pages/not-found-page.tsx'
import { RequireSession } from './session/require-session.tsx'

const ClusterPage = lazy(() => import('./pages/cluster/cluster-page.tsx'))
const UpgradePage = lazy(() => import('./pages/upgrade/upgrade-page.tsx'))
const NodeRoute = lazy(() => import('./pages/node/node-page.tsx'))
const WizardRoute = lazy(() => import('./wizard/wizard-route.tsx'))
const SignInPage = lazy(() => import('./pages/sign-in/sign-in-page.tsx'))

const router = createBrowserRouter([
  { path: '/sign-in', Component: SignInPage, ErrorBoundary: CrashPage },
  {
    path: '/', Component: RequireSession, ErrorBoundary: CrashPage,
    children: [
      {
        ErrorBoundary: CrashPage,
        children: [
          { index: true, Component: ClusterPage },
          { path: 'operations/:name', Component: UpgradePage },
          { path: 'nodes/:name', Component: NodeRoute },
          { path: 'upgrade/:step?', Component: WizardRoute },
          { path: '*', Component: NotFoundPage },
        ],
      },
    ],
  },
])

export function App({ cache }: { cache: QueryClient }) {
  return <QueryClientProvider client={cache}><RouterProvider router={router} /></QueryClientProvider>
}

import { render } from 'preact'
import { Opening } from './layout/opening.tsx'

const root = document.getElementById('app')
if (root === null) throw new Error('index.html has no element #app.')
// The page stands before the agent is loaded.
render(<Opening />, root)
const [{ App }, { createDesk }, { openBackend }] = await Promise.all([
  import('./app.tsx'),
  import('./state/desk.ts'),
  import('./settings/settable-backend.ts'),
])
render(<App desk={await createDesk(openBackend)} />, root)

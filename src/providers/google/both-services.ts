/** Google's two services share their codec, so the registry, and agent files, load them as one chunk. */
export { vertex, vertexProvider } from '../vertex/index.ts'
export { google, googleProvider } from './index.ts'

/** Google's two services share their codec, so the registry loads them as one chunk. */
export { vertexProvider } from '../vertex/index.ts'
export { googleProvider } from './index.ts'

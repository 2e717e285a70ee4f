/** Lazy chunk with both Google APIs, which share a codec, for the registry and agent files. */
export { vertex, vertexProvider } from '../vertex/index.ts'
export { google, googleProvider } from './index.ts'

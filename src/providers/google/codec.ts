// Everything that is needed only once a call is made: one chunk, loaded with the first call.
export { GeminiDecoder } from './decode.ts'
export { encodeRequest } from './encode.ts'

/** Both directions of the protocol, loaded together with the first call. */
export { ChatDecoder } from './chat-decoder.ts'
export { encodeRequest } from './encode-request.ts'

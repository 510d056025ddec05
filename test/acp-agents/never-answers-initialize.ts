/** Hears `initialize` and says nothing, for ever. */
import { serve } from "./rpc.ts";

serve({ initialize: () => {} });

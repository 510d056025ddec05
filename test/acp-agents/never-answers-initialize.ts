/** Hears `initialize` and says nothing, forever. */
import { serve } from "./rpc.ts";

serve({ initialize: () => {} });

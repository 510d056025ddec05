/** Actor of a choice that a configuration file made: it is not kept as the user's own. */
export const configurationActor = "configuration";

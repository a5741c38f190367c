# mclust_geysers.json: R's mclust on two tables on which other starts or priors give other results: MASS's geyser, three
# diagonal components under mclust's default prior, iterated until convergence; and quakes, four diagonal components.
# Also writes geyser.csv and quakes.csv.

suppressMessages({library(mclust); library(MASS)})

write.csv(geyser, "geyser.csv", row.names = FALSE, quote = FALSE)
quakes_table <- quakes[, c("long", "depth", "mag")]
write.csv(quakes_table, "quakes.csv", row.names = FALSE, quote = FALSE)

entry <- function(name, table, components, ...) {
  model <- Mclust(table, G = components, modelNames = "VVI", verbose = FALSE,
                  control = emControl(eps = 0, tol = c(1e-14, 1e-14), itmax = c(10000, 10000)), ...)
  sprintf(' "%s": {"components": %d, "log_likelihood": %.15g}', name, components, model$loglik)
}
writeLines(c("{",
  sprintf(' "made_with": {"R": "%s", "mclust": "%s", "MASS": "%s"},', getRversion(), packageVersion("mclust"),
          packageVersion("MASS")),
  paste(c(entry("geyser", geyser, 3, prior = priorControl()), entry("quakes", quakes_table, 4)), collapse = ",\n"),
  "}"), "mclust_geysers.json")
cat("mclust_geysers.json:", file.size("mclust_geysers.json") / 1000, "kB\n")
